/// Numbers and names within sentences.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace simgrad::outputs::report {

/// The key of the grid along which a speed-up is drawn.
inline constexpr const char* workers_key = "cluster.workers";

/// "97 %", "99.6 %", "0.4 %", "0 %".  No share that is not whole is called 100 % or 0 %.
std::string percent(double share);

/// After "no more than": "97 %", "0.1 %".
std::string percent_at_most(double share);

/// "2.1x", "1.04x", "0.50x", "0.0512x", "35x".
std::string times(double ratio);

/// "a", "a and b", "a, b and c"; what is beyond `most` is counted: "a, b and 3 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 4);

/// "1 run", "3 runs".
std::string counted(std::size_t n, const std::string& noun);

/// A grid point: "8 workers, latency=50us"; empty without one.
std::string point_words(const nlohmann::ordered_json& parameters);

/// The same after a name: " with 8 workers at latency=50us".
std::string at_point(const nlohmann::ordered_json& parameters);

}  // namespace simgrad::outputs::report

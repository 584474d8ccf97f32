/// Numbers and names within sentences.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "outputs/text/language.h"

namespace simgrad::outputs::report {

/// The key of the grid that is the axis of a speed-up chart.
inline constexpr const char* workers_key = "cluster.workers";

/// Returns "97 %", "99.6 %", "0.4 %", "0 %". A share is called 100 % or 0 % only if it is exact.
std::string percent(double share);

/// Returns a percentage to stand after "no more than": "97 %", "0.1 %".
std::string percent_at_most(double share);

/// Returns "2.1", "1.04", "0.50", "0.0512", "35".
std::string factor(double ratio);
/// Returns "2.1x", "1.04x", "0.50x", "0.0512x", "35x".
std::string times(double ratio);

/// Factors below are told as percentages: "5 %" and not "1.05x".
inline constexpr double small_factor = 1.295;

/// Returns "5.2x as fast as one worker", "as fast as one worker" within 0.5 %, "6 % slower than one worker alone" or
/// "2.0x slower than one worker alone".
std::string against_one(double speedup);

/// Returns a grid point: "8 workers, latency=50us". Empty without a grid.
std::string point_words(const nlohmann::ordered_json& parameters);

/// Returns a grid point to stand after a name: " with 8 workers at latency=50us".
std::string at_point(const nlohmann::ordered_json& parameters);

}  // namespace simgrad::outputs::report

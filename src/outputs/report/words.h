/// Numbers and names within sentences.
#pragma once

#include <string>
#include <vector>

namespace simgrad::outputs::report {

/// "97 %", "99.6 %", "0.4 %", "0 %".  No share that is not whole is called 100 % or 0 %.
std::string percent(double share);

/// "2.1x", "1.04x", "35x"; the ratio is at least 1.
std::string times(double ratio);

/// "a", "a and b", "a, b and c"; what is beyond `most` is counted: "a, b and 3 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 4);

/// "1 run", "3 runs".
std::string counted(std::size_t n, const std::string& noun);

}  // namespace simgrad::outputs::report

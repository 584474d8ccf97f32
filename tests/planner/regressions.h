// A search among cheap trainings on a cluster.
#pragma once

#include <string>

namespace simgrad::tests {

constexpr double regression_features = 500, regression_batch = 64;

/// Ten steps of a linear regression.  cluster: the lines of its table.  rest: the strategies, and the searched keys.
inline std::string regressions(const std::string& cluster, const std::string& rest) {
  return "[cluster]\n" + cluster + R"(
[data]
samples = 640
features = 500

[model]
kind = "least_squares"

[training]
batch_size = 64
numbers = false

[stop]
samples = 640

[plan]
objective = "fastest"

)" + rest;
}

}  // namespace simgrad::tests

/// Which of two values of a metric is better.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::experiment {

enum class Better {
  less,  ///< times, costs, traffic, losses, staleness
  more   ///< speed-ups, efficiency, goodput, accuracy
};

/// Returns the direction of a metric of a run. Nothing if more of it is neither better nor worse, as with steps.
std::optional<Better> better(std::string_view metric);

/// The metrics that have a direction, in the order of results.json.
std::vector<std::string> metrics_with_direction();

}  // namespace simgrad::experiment

/// Which of two values of a metric is better.
#pragma once

#include <optional>
#include <string_view>

namespace simgrad::experiment {

enum class Better {
  less,  ///< times, costs, traffic, losses, staleness
  more   ///< speed-ups, efficiency, goodput, accuracy
};

/// Returns the direction of a metric of a run. Nothing if more of it is neither better nor worse, as with steps.
std::optional<Better> better(std::string_view metric);

}  // namespace simgrad::experiment

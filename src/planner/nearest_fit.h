/// The changes that make the nearest of those candidates fit that do not fit into memory.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "planner/candidate.h"

namespace simgrad::planner {

inline constexpr std::size_t nearest_most = 3;  ///< of each reason

/// Looks for changes for those of each reason that miss by least, and says the smallest one in their faults.
/// goes_on: asked before each; if not, the others are left as they are.
void look_for_nearest_fits(std::vector<Refused>& refused, const std::function<bool()>& goes_on);

}  // namespace simgrad::planner

/// The placement with the least makespan, by branch and bound over devices and orders.
#pragma once

#include <cstdint>

#include "strategies/operators/placing.h"

namespace simgrad::strategies {

/// The most ways to give operators to devices that are searched.
inline constexpr double most_placements = 1e6;
/// The most schedules, complete or begun, that a search looks at.
inline constexpr std::int64_t most_schedules = 4'000'000;

/// Searches all schedules, in the order of their operators' starts, from the better one of greedy and heft on. A begun
/// schedule is left where the longest way to the end, or the work that is left shared evenly, reaches the best
/// makespan. PlacedSchedule::proven is false if the search ended at most_schedules; then it is the best one so far.
/// Errors: ScenarioError where nothing fits.
PlacedSchedule exhaustive(const PlacementProblem& problem);

}  // namespace simgrad::strategies

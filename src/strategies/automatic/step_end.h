/// The end of a step behind the passes: sums of gradients, and the update.
#pragma once

#include <cstdint>
#include <vector>

#include "strategies/automatic/layout_times.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// A step from its beginning, when each of its parts has ended on the last rank.
struct StepEnd {
  double passes_s = 0.0;
  double sums_s = 0.0;
  double update_s = 0.0;
};

/// The dimensions along which a layout's gradients are not summed layer by layer within the passes, but by the strategy
/// or once by the ranks of a replica.
std::vector<training::Dimension> summed_behind_passes(const Strategy& strategy, const Parallel& parallel,
                                                      const Traits& traits);

/// table: the stages' tasks with their times.  firsts: the first unit of each piece, then the number of units.
StepEnd end_of_step(const Strategy& strategy, const LayoutTimes& times, const TimedTable& table,
                    const std::vector<std::int64_t>& firsts);

}  // namespace simgrad::strategies

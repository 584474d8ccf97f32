/// Changes of a scenario that make a worker fit into the memory of its device.
///
/// Each kind of change is tried by itself, from its smallest value on. Where none is enough, all that are enough
/// together are tried, the fewest first, and each then goes back to the smallest value that still suffices.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/plan/settings.h"
#include "strategies/strategy.h"
#include "training/memory/formula.h"

namespace simgrad::experiment {

/// rows_of: the rows of a worker if there are so many workers.
/// Returns each with the memory that a worker then needs; none: nothing tried makes it fit.
std::vector<std::string> changes_that_fit(const Settings& settings, const strategies::Strategy& strategy,
                                          const training::MemoryTerms& terms, double limit_bytes,
                                          const std::function<std::int64_t(std::int64_t workers)>& rows_of);

}  // namespace simgrad::experiment

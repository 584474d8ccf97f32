/// Where a training has diverged: from which evaluation on its losses say nothing. The training decides (DESIGN.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "record/record.h"

namespace simgrad::outputs {

/// Returns the step at which a run has diverged: the recorded one, or in files of older releases that of its last
/// evaluation. Nothing for a run that has not diverged.
std::optional<std::int64_t> diverged_step(const record::Record& record);

/// Returns the number of evaluations before divergence, and before the first loss that is not finite. It is the size of
/// the curve if there is no divergence, or no loss at all.
std::size_t sensible_evaluations(const record::Record& record);

}  // namespace simgrad::outputs

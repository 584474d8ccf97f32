/// Where a training has diverged: from which evaluation on its losses say nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "record/record.h"

namespace simgrad::outputs {

/// A loss that stays above this multiple of the first one has diverged.
inline constexpr double diverged_above = 1e3;
/// The same bound where the first loss is not positive.
inline constexpr double sensible_most = 1e100;

/// Returns the number of evaluations before divergence: before the first loss that is not finite, and before the losses
/// that exceed diverged_above times the first one from there to the end. It is the size of the curve if there is no
/// divergence, or no loss at all.
std::size_t sensible_evaluations(const std::vector<record::Evaluation>& curve);

}  // namespace simgrad::outputs

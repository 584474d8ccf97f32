/// Clipping of gradients by their norm.
#pragma once

#include <span>

#include "models/cut_model.h"
#include "values/tensor.h"

namespace simgrad::training {

/// g times min(1, most / (|g| + 1e-6)), with the Euclidean norm of all of g. A norm that is not finite makes no number.
values::Tensor scaled_to_norm(const values::Tensor& g, double most);
/// Scales a shard of g.  squares: (1), the sum of squares of all of g.
values::Tensor scaled_to_norm(const values::Tensor& shard, const values::Tensor& squares, double most);
/// Returns (1): g_1^2 + g_2^2 + ..., added in that order.  without: stretches that are left out, ascending by `first`;
/// they may overlap.
values::Tensor sum_of_squares(const values::Tensor& g, std::span<const models::ParameterStretch> without = {});

}  // namespace simgrad::training

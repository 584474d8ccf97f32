/// Clipping of gradients by their norm.
#pragma once

#include "values/tensor.h"

namespace simgrad::training {

/// g times min(1, most / (|g| + 1e-6)), with the Euclidean norm of all of g. A norm that is not finite makes no number.
values::Tensor scaled_to_norm(const values::Tensor& g, double most);

}  // namespace simgrad::training

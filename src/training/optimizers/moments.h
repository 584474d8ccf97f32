/// What optimizers that divide by an average of squares have in common: averages that forget.
#pragma once

#include "base/describe.h"
#include "values/tensor.h"

namespace simgrad::training {

/// Of what is kept of an average at each update: below 1, or nothing new would ever count.
inline constexpr base::Bounds kept_share{.least = 0.0, .most = 1.0 - 1e-9};
/// Of what keeps a divisor from zero.
inline constexpr base::Bounds divisor_least{.least = 1e-300, .most = 1.0};

/// decay m + (1 - decay) g
values::Tensor averaged(const values::Tensor& m, const values::Tensor& g, double decay);
/// decay s + (1 - decay) g^2
values::Tensor squares_averaged(const values::Tensor& s, const values::Tensor& g, double decay);

}  // namespace simgrad::training

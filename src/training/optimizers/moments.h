/// Exponential moving averages, and the ranges of their options, for optimizers that divide by an average of squares.
#pragma once

#include "base/describe.h"
#include "values/tensor.h"

namespace simgrad::training {

/// The range of the share of an average that an update keeps: below 1, or new gradients would never count.
inline constexpr base::Bounds kept_share{.least = 0.0, .most = 1.0 - 1e-9};
/// The range of epsilon, which keeps a divisor from zero.
inline constexpr base::Bounds divisor_least{.least = 1e-300, .most = 1.0};

/// The average of gradients after one more: decay m + (1 - decay) g.
values::Tensor averaged(const values::Tensor& m, const values::Tensor& g, double decay);
/// The average of squares after one more gradient: decay s + (1 - decay) g^2.
values::Tensor squares_averaged(const values::Tensor& s, const values::Tensor& g, double decay);

}  // namespace simgrad::training

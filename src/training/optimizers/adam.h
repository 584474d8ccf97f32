/// Adam: m <- beta1 m + (1 - beta1) g;  s <- beta2 s + (1 - beta2) g^2;
/// w <- w - lr m' / (sqrt(s') + epsilon), in update t with m' = m / (1 - beta1^t), s' = s / (1 - beta2^t).
#pragma once

#include "training/optimizers/optimizer.h"

namespace simgrad::training {

struct Adam : Optimizer {
  static constexpr base::About about{
      .kind = "adam",
      .summary =
          "running averages m of g and s of g^2, both corrected for their bias towards 0; w <- w - lr m / (sqrt(s) + "
          "epsilon)",
      .cost = "13 d flops an update",
      .source = "D. P. Kingma, J. Ba, Adam: A Method for Stochastic Optimization, 2015"};

  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  void describe(base::Describer& d) override;
  double flops() const override { return 13.0; }
  int vectors() const override { return 2; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const override;
};

}  // namespace simgrad::training

/// RMSProp: s <- decay s + (1 - decay) g^2;  w <- w - lr g / (sqrt(s) + epsilon).
#pragma once

#include "training/optimizers/optimizer.h"

namespace simgrad::training {

struct Rmsprop : Optimizer {
  static constexpr base::About about{
      .kind = "rmsprop",
      .summary = "s <- decay s + (1 - decay) g^2; w <- w - lr g / (sqrt(s) + epsilon)",
      .cost = "9 d flops an update",
      .source = "T. Tieleman, G. Hinton, Neural Networks for Machine Learning, lecture 6.5, 2012"};

  double decay = 0.99;
  double epsilon = 1e-8;

  void describe(base::Describer& d) override;
  double flops() const override { return 9.0; }
  int vectors() const override { return 1; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const override;
};

}  // namespace simgrad::training

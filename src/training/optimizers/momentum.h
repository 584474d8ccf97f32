/// Momentum: v <- momentum v + g;  w <- w - lr v.
#pragma once

#include "training/optimizers/optimizer.h"

namespace simgrad::training {

struct Momentum : Optimizer {
  static constexpr base::About about{
      .kind = "momentum",
      .summary = "v <- momentum v + g; w <- w - lr v (the heavy ball)",
      .cost = "4 d flops an update",
      .source = "B. T. Polyak, Some methods of speeding up the convergence of iteration methods, 1964"};

  double momentum = 0.9;

  void describe(base::Describer& d) override;
  double flops() const override { return 4.0; }
  int vectors() const override { return 1; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const override;
};

}  // namespace simgrad::training

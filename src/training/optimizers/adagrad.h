/// AdaGrad: s <- s + g^2;  w <- w - lr g / (sqrt(s) + epsilon).
#pragma once

#include "training/optimizers/optimizer.h"

namespace simgrad::training {

struct Adagrad : Optimizer {
  static constexpr base::About about{
      .kind = "adagrad",
      .summary =
          "s <- s + g^2; w <- w - lr g / (sqrt(s) + epsilon): parameters with small or rare gradients take larger "
          "steps",
      .cost = "7 d flops an update",
      .source =
          "J. Duchi, E. Hazan, Y. Singer, Adaptive Subgradient Methods for Online Learning and Stochastic "
          "Optimization, 2011"};

  double epsilon = 1e-10;

  void describe(base::Describer& d) override;
  double flops() const override { return 7.0; }
  std::optional<RowUpdate> row_update() const override { return RowUpdate{epsilon}; }
  int vectors() const override { return 1; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const override;
};

}  // namespace simgrad::training

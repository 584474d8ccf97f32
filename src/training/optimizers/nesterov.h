/// Nesterov's accelerated gradient, as training frameworks write it: v <- momentum v + g;  w <- w - lr (g + momentum
/// v).
#pragma once

#include "training/optimizers/optimizer.h"

namespace simgrad::training {

struct Nesterov : Optimizer {
  static constexpr base::About about{
      .kind = "nesterov",
      .summary = "v <- momentum v + g; w <- w - lr (g + momentum v): momentum that looks ahead",
      .cost = "6 d flops an update",
      .source =
          "Y. Nesterov, A method for solving the convex programming problem with convergence rate O(1/k^2), 1983; "
          "I. Sutskever et al., On the importance of initialization and momentum in deep learning, 2013"};

  double momentum = 0.9;

  void describe(base::Describer& d) override;
  double flops() const override { return 6.0; }
  int vectors() const override { return 1; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const override;
};

}  // namespace simgrad::training

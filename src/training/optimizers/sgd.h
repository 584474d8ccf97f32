/// Stochastic gradient descent: w <- w - lr g.
#pragma once

#include "training/optimizers/optimizer.h"

namespace simgrad::training {

struct Sgd : Optimizer {
  static constexpr base::About about{.kind = "sgd",
                                     .summary = "w <- w - lr g",
                                     .cost = "2 d flops an update",
                                     .source = "H. Robbins, S. Monro, A Stochastic Approximation Method, 1951"};

  double flops() const override { return 2.0; }
  std::optional<RowUpdate> row_update() const override { return RowUpdate{}; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const override;
};

}  // namespace simgrad::training

/// LAMB: Adam's direction u, with a step in every layer that is as long as the layer's parameters:
/// u = m' / (sqrt(s') + epsilon) + weight_decay w;  w <- w - lr (|w| / |u|) u, norms layer by layer.
/// If one of the norms is zero, their ratio counts as 1, as in the authors' program.
#pragma once

#include "training/optimizers/optimizer.h"

namespace simgrad::training {

struct Lamb : Optimizer {
  static constexpr base::About about{
      .kind = "lamb",
      .summary = "Adam's direction, scaled in every layer to the length of the layer's parameters: for large batches",
      .cost = "20 d flops an update",
      .source =
          "Y. You et al., Large Batch Optimization for Deep Learning: Training BERT in 76 minutes, 2020, "
          "Algorithm 2"};

  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.0;

  void describe(base::Describer& d) override;
  double flops() const override { return 20.0; }
  bool elementwise() const override { return false; }
  int vectors() const override { return 2; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer> layers) const override;
};

}  // namespace simgrad::training

/// AdamW: Adam, with a decay of the weights that does not pass through the gradient's averages:
/// w <- (1 - lr weight_decay) w, then Adam's update. A schedule of the learning rate scales the decay as well.
#pragma once

#include "training/optimizers/adam.h"

namespace simgrad::training {

struct Adamw : Adam {
  static constexpr base::About about{
      .kind = "adamw",
      .summary = "adam with decoupled weight decay: w <- (1 - lr weight_decay) w before each update of adam",
      .cost = "14 d flops an update",
      .source = "I. Loshchilov, F. Hutter, Decoupled Weight Decay Regularization, ICLR 2019"};

  double weight_decay = 0.01;

  void describe(base::Describer& d) override;
  double flops() const override { return Adam::flops() + 1.0; }
  void update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const override;
};

}  // namespace simgrad::training

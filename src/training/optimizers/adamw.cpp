#include "training/optimizers/adamw.h"

namespace simgrad::training {

void Adamw::describe(base::Describer& d) {
  Adam::describe(d);
  d.number("weight_decay", weight_decay,
           "the share of w that an update at learning rate 1 removes, in addition to the model's l2 in the gradient",
           base::Bounds::at_least(0.0));
}

void Adamw::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer> layers) const {
  state.w = (1.0 - lr * weight_decay) * state.w;
  Adam::update(state, g, lr, layers);
}

}  // namespace simgrad::training

#include "training/optimizers/momentum.h"

namespace simgrad::training {

void Momentum::describe(base::Describer& d) {
  d.number("momentum", momentum, "the share of the last direction that an update keeps", base::Bounds::between(0, 1));
}

void Momentum::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const {
  values::Tensor& v = state.optimizer.front();
  v = values::add_scaled(g, momentum, v);
  state.w = values::add_scaled(state.w, -lr, v);
}

}  // namespace simgrad::training

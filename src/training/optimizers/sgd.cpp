#include "training/optimizers/sgd.h"

namespace simgrad::training {

void Sgd::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const {
  state.w = values::add_scaled(state.w, -lr, g);
}

}  // namespace simgrad::training

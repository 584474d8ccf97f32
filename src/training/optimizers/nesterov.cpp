#include "training/optimizers/nesterov.h"

#include "values/map.h"

namespace simgrad::training {

void Nesterov::describe(base::Describer& d) {
  d.number("momentum", momentum, "the share of the last direction that an update keeps", base::Bounds::between(0, 1));
}

void Nesterov::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const {
  values::Tensor& v = state.optimizer.front();
  v = values::add_scaled(g, momentum, v);
  state.w = values::map<3>("nesterov", {{lr, momentum}}, {state.w, g, v},
                           [lr, mu = momentum](double w, double g_i, double v_i) { return w - lr * (g_i + mu * v_i); });
}

}  // namespace simgrad::training

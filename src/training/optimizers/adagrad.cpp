#include "training/optimizers/adagrad.h"

#include <cmath>

#include "training/optimizers/moments.h"
#include "values/map.h"

namespace simgrad::training {

void Adagrad::describe(base::Describer& d) {
  d.number("epsilon", epsilon, "added to the divisor, so that it is never zero", divisor_least);
}

void Adagrad::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const {
  values::Tensor& s = state.optimizer.front();
  s = values::map<2>("sum of squares", {}, {s, g}, [](double s_i, double g_i) { return s_i + g_i * g_i; });
  state.w = values::map<3>(
      "adagrad", {{lr, epsilon}}, {state.w, g, s},
      [lr, e = epsilon](double w, double g_i, double s_i) { return w - lr * (g_i / (std::sqrt(s_i) + e)); });
}

}  // namespace simgrad::training

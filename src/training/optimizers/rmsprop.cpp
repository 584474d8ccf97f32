#include "training/optimizers/rmsprop.h"

#include <cmath>

#include "training/optimizers/moments.h"
#include "values/map.h"

namespace simgrad::training {

void Rmsprop::describe(base::Describer& d) {
  d.number("decay", decay, "the share of the average of squares that an update keeps", kept_share);
  d.number("epsilon", epsilon, "added to the divisor, so that it is never zero", divisor_least);
}

void Rmsprop::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const {
  values::Tensor& s = state.optimizer.front();
  s = squares_averaged(s, g, decay);
  state.w = values::map<3>(
      "rmsprop", {{lr, epsilon}}, {state.w, g, s},
      [lr, e = epsilon](double w, double g_i, double s_i) { return w - lr * (g_i / (std::sqrt(s_i) + e)); });
}

}  // namespace simgrad::training

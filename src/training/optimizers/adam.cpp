#include "training/optimizers/adam.h"

#include <cmath>

#include "training/optimizers/moments.h"
#include "values/map.h"

namespace simgrad::training {

void Adam::describe(base::Describer& d) {
  d.number("beta1", beta1, "the share of the average of gradients that an update keeps", kept_share);
  d.number("beta2", beta2, "the share of the average of squares that an update keeps", kept_share);
  d.number("epsilon", epsilon, "added to the divisor, so that it is never zero", divisor_least);
}

void Adam::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer>) const {
  values::Tensor& m = state.optimizer[0];
  values::Tensor& s = state.optimizer[1];
  m = averaged(m, g, beta1);
  s = squares_averaged(s, g, beta2);
  const auto t = static_cast<double>(++state.optimizer_updates);
  const double rate = lr / (1.0 - std::pow(beta1, t));
  const double root = std::sqrt(1.0 - std::pow(beta2, t));
  state.w = values::map<3>("adam", {{rate, root, epsilon}}, {state.w, m, s},
                           [rate, root, e = epsilon](double w, double m_i, double s_i) {
                             return w - rate * (m_i / (std::sqrt(s_i) / root + e));
                           });
}

}  // namespace simgrad::training

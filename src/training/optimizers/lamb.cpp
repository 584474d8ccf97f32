#include "training/optimizers/lamb.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "training/optimizers/moments.h"
#include "values/map.h"

namespace simgrad::training {

namespace {

double euclidean_norm(std::span<const double> x) {
  double squares = 0.0;
  for (const double x_i : x) squares += x_i * x_i;
  return std::sqrt(squares);
}

double trust_ratio(std::span<const double> w, std::span<const double> u) {
  const double w_norm = euclidean_norm(w), u_norm = euclidean_norm(u);
  return w_norm > 0.0 && u_norm > 0.0 ? w_norm / u_norm : 1.0;
}

/// The update w - lr (|w| / |u|) u, layer by layer.
values::Tensor layer_step(const values::Tensor& w, const values::Tensor& u, double lr,
                          std::span<const models::Layer> layers) {
  std::vector<double> scalars{lr};
  std::vector<std::size_t> counts;
  for (const models::Layer& layer : layers) {
    scalars.push_back(static_cast<double>(layer.count));
    counts.push_back(static_cast<std::size_t>(layer.count));
  }
  const std::array<values::Tensor, 2> operands{w, u};
  return values::mapped(
      "lamb", scalars, operands,
      [lr, counts = std::move(counts)](std::span<const std::span<const double>> in, std::span<double> out) {
        std::size_t first = 0;
        for (const std::size_t count : counts) {
          // The result may overwrite w or u, so a layer's norms are computed before the layer is written.
          const auto w_l = in[0].subspan(first, count), u_l = in[1].subspan(first, count);
          const double rate = lr * trust_ratio(w_l, u_l);
          for (std::size_t i = 0; i < count; ++i) out[first + i] = w_l[i] - rate * u_l[i];
          first += count;
        }
      });
}

}  // namespace

void Lamb::describe(base::Describer& d) {
  d.number("beta1", beta1, "the share of the average of gradients that an update keeps", kept_share);
  d.number("beta2", beta2, "the share of the average of squares that an update keeps", kept_share);
  d.number("epsilon", epsilon, "added to the divisor, so that it is never zero", divisor_least);
  d.number("weight_decay", weight_decay,
           "the share of w that is added to the direction, in addition to the model's l2 in the gradient",
           base::Bounds::at_least(0.0));
}

void Lamb::update(State& state, const values::Tensor& g, double lr, std::span<const models::Layer> layers) const {
  base::check(!layers.empty() && layers.back().first + layers.back().count == state.w.size(),
              "lamb updates all layers of w at once");
  values::Tensor& m = state.optimizer[0];
  values::Tensor& s = state.optimizer[1];
  m = averaged(m, g, beta1);
  s = squares_averaged(s, g, beta2);
  const auto t = static_cast<double>(++state.optimizer_updates);
  const double unbias_m = 1.0 - std::pow(beta1, t), unbias_s = 1.0 - std::pow(beta2, t);
  const values::Tensor u =
      values::map<3>("lamb direction", {{unbias_m, unbias_s, epsilon, weight_decay}}, {m, s, state.w},
                     [unbias_m, unbias_s, e = epsilon, decay = weight_decay](double m_i, double s_i, double w_i) {
                       return (m_i / unbias_m) / (std::sqrt(s_i / unbias_s) + e) + decay * w_i;
                     });
  state.w = layer_step(state.w, u, lr, layers);
}

}  // namespace simgrad::training

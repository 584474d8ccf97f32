#include "cluster/stragglers/drawn.h"

#include <cmath>

namespace simgrad::cluster {

using base::Bounds;
using base::Stream;
using base::Unit;

void ConstantStragglers::describe(base::Describer& d) {
  d.number("slowdown", slowdown, "how many times their nominal time the gradients take", Bounds::between(1, 1e6));
  describe_ranks(d);
}

void LogNormal::describe(base::Describer& d) {
  d.number("sigma", sigma,
           "standard deviation of the multiple's logarithm; its mean is 1, its median exp(-sigma^2 / 2)",
           Bounds::between(0, 5));
  describe_ranks(d);
}

Slowdown LogNormal::draw(Stream& stream) const {
  return {.factor = std::exp(sigma * stream.normal() - 0.5 * sigma * sigma)};
}

void ShiftedExponential::describe(base::Describer& d) {
  d.quantity("mean", mean_s, Unit::seconds, "mean of the exponential time on top of the nominal one",
             Bounds::at_least(0));
  describe_ranks(d);
}

Slowdown ShiftedExponential::draw(Stream& stream) const {
  return {.more_s = -mean_s * std::log(1.0 - stream.uniform())};
}

void Pareto::describe(base::Describer& d) {
  d.number("shape", shape, "exponent of the tail: the smaller, the heavier", Bounds::between(0.1, 1e6));
  describe_ranks(d);
}

Slowdown Pareto::draw(Stream& stream) const { return {.factor = std::pow(1.0 - stream.uniform(), -1.0 / shape)}; }

void Bimodal::describe(base::Describer& d) {
  d.number("probability", probability, "probability that a gradient pauses", Bounds::between(0, 1));
  d.quantity("pause", pause_s, Unit::seconds, "length of the pause", Bounds::at_least(0));
  describe_ranks(d);
}

Slowdown Bimodal::draw(Stream& stream) const { return {.more_s = stream.uniform() < probability ? pause_s : 0.0}; }

void MegaScale::describe(base::Describer& d) {
  d.number("share", share, "probability that a gradient is computed by a slow host", Bounds::between(0, 1));
  d.number("slowdown", slowdown, "how many times their nominal time the slow ones take", Bounds::between(1, 1e6));
  d.quantity("launch", launch_s, Unit::seconds,
             "mean of the exponential time by which a launch is late; the source has no figure, so measure yours",
             Bounds::at_least(0));
  describe_ranks(d);
}

Slowdown MegaScale::draw(Stream& stream) const {
  const double factor = stream.uniform() < share ? slowdown : 1.0;
  return {.factor = factor, .more_s = -launch_s * std::log(1.0 - stream.uniform())};
}

}  // namespace simgrad::cluster

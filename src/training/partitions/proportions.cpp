#include "training/partitions/proportions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.h"

namespace simgrad::training {

namespace {

/// A uniform number in (0, 1], for logarithms.
double positive_uniform(base::Stream& stream) { return 1.0 - stream.uniform(); }

/// The logarithm of a gamma variate of shape alpha >= 1.
double log_gamma_of_large_shape(double alpha, base::Stream& stream) {
  const double d = alpha - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = stream.normal();
    const double t = 1.0 + c * x;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    if (std::log(positive_uniform(stream)) < 0.5 * x * x + d - d * v + d * std::log(v))
      return std::log(d) + std::log(v);
  }
}

/// A variate of shape alpha < 1 is one of shape alpha + 1 times u^(1 / alpha), with u uniform.
double log_gamma(double alpha, base::Stream& stream) {
  if (alpha >= 1.0) return log_gamma_of_large_shape(alpha, stream);
  const double larger = log_gamma_of_large_shape(alpha + 1.0, stream);
  return larger + std::log(positive_uniform(stream)) / alpha;
}

}  // namespace

std::vector<double> dirichlet(double alpha, int n, base::Stream& stream) {
  std::vector<double> draws;
  for (int i = 0; i < n; ++i) draws.push_back(log_gamma(alpha, stream));
  const double most = *std::ranges::max_element(draws);
  double sum = 0.0;
  for (double& draw : draws) sum += draw = std::exp(draw - most);
  for (double& draw : draws) draw /= sum;
  return draws;
}

std::vector<std::int64_t> cuts(std::int64_t count, std::span<const double> proportions) {
  std::vector<std::int64_t> starts{0};
  double sum = 0.0;
  for (const double proportion : proportions) {
    sum += proportion;
    const auto place = static_cast<std::int64_t>(std::floor(sum * static_cast<double>(count)));
    starts.push_back(std::clamp(place, starts.back(), count));
  }
  starts.back() = count;  // in spite of rounding errors of the sum
  return starts;
}

std::vector<std::int64_t> apportioned(std::int64_t count, std::span<const double> weights,
                                      std::span<const std::int64_t> most, std::int64_t unit) {
  base::check(unit > 0 && count % unit == 0, "rows are assigned in whole units");
  std::vector<std::int64_t> units(weights.size(), -1);  // -1: not dealt yet
  const auto bound = [&](std::size_t r) { return most.empty() ? count / unit : most[r] / unit; };
  std::int64_t left = count / unit;
  for (bool open = true; open;) {
    std::vector<double> of_open;
    std::vector<std::size_t> parts;
    for (std::size_t r = 0; r < weights.size(); ++r)
      if (units[r] < 0) of_open.push_back(weights[r]), parts.push_back(r);
    base::check(!parts.empty() || left == 0, "all rows have room in some part");
    if (parts.empty()) break;
    const std::vector<std::int64_t> starts = apportioned(left, of_open);
    open = false;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (starts[i + 1] - starts[i] > bound(parts[i])) {
        units[parts[i]] = bound(parts[i]);
        left -= bound(parts[i]);
        open = true;
      }
    for (std::size_t i = 0; i < parts.size() && !open; ++i) units[parts[i]] = starts[i + 1] - starts[i];
  }
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t part : units) starts.push_back(starts.back() + part * unit);
  return starts;
}

}  // namespace simgrad::training

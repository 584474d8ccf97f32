#include "models/k_means.h"

#include <algorithm>

#include "base/errors.h"
#include "base/random.h"

namespace simgrad::models {

namespace {

struct Nearest {
  std::size_t first = 0;  ///< where the centre begins in w
  double squared_distance = 0.0;
};

double squared_distance(const double* x, const double* c, std::size_t d) {
  double squares = 0.0;
  for (std::size_t j = 0; j < d; ++j) squares += (x[j] - c[j]) * (x[j] - c[j]);
  return squares;
}

Nearest nearest(const double* x, std::span<const double> w, std::size_t d) {
  Nearest best{0, squared_distance(x, w.data(), d)};
  for (std::size_t first = d; first < w.size(); first += d)
    if (const double away = squared_distance(x, w.data() + first, d); away < best.squared_distance)
      best = {first, away};
  return best;
}

/// Calls `visit` with every row and its nearest centre.
template <class Visit>
void for_each_row(const Samples& rows, std::span<const double> w, Visit visit) {
  const auto d = static_cast<std::size_t>(rows.columns);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double* const x = rows.features + rows.row(i) * rows.columns;
    visit(x, nearest(x, w, d));
  }
}

}  // namespace

void KMeans::describe(base::Describer& d) {
  d.integer("clusters", clusters, "the number of centres", base::Bounds::between(1.0, 1e6));
}

/// Forward: a difference, a square and a sum for each number of each centre. Backward: a difference from the nearest
/// centre, scaled and added.
std::vector<Layer> KMeans::layers(const Problem& problem) const {
  const auto d = static_cast<double>(problem.features);
  return {{.first = 0,
           .count = parameters(problem),
           .forward_flops = 3.0 * d * static_cast<double>(clusters),
           .backward_flops = 3.0 * d}};
}

double KMeans::assignment_flops(const Problem& problem, std::int64_t rows) const {
  const auto d = static_cast<double>(problem.features);
  return (3.0 * d * static_cast<double>(clusters) + d) * static_cast<double>(rows);
}

void KMeans::initial_values(const Problem&, std::uint64_t seed, std::span<double> w) const {
  base::Stream stream({.seed = seed, .purpose = base::Purpose::initial_values});
  for (double& w_j : w) w_j = stream.normal();
}

void KMeans::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                      double penalty_scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  const auto d = static_cast<std::size_t>(rows.columns);
  for_each_row(rows, w, [&](const double* x, const Nearest& own) {
    double* const g = gradient.data() + own.first;
    const double* const c = w.data() + own.first;
    for (std::size_t j = 0; j < d; ++j) g[j] += scale * (c[j] - x[j]);
  });
}

Score KMeans::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  Score sum;
  for_each_row(rows, w, [&](const double*, const Nearest& own) { sum.loss += 0.5 * own.squared_distance; });
  return sum;
}

void KMeans::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                     std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  std::size_t next = 0;
  for_each_row(rows, w, [&](const double*, const Nearest& own) {
    predictions[next++] = static_cast<double>(own.first) / static_cast<double>(problem.features);
    predictions[next++] = own.squared_distance;
  });
}

void KMeans::assign(const Problem& problem, const Samples& rows, std::span<const double> w,
                    std::span<double> sums) const {
  check_shapes(problem, rows, w);
  base::check(static_cast<std::int64_t>(sums.size()) == assignment_size(problem), "room for k sums and counts");
  std::fill(sums.begin(), sums.end(), 0.0);
  const auto d = static_cast<std::size_t>(rows.columns);
  for_each_row(rows, w, [&](const double* x, const Nearest& own) {
    double* const sum = sums.data() + own.first / d * (d + 1);
    for (std::size_t j = 0; j < d; ++j) sum[j] += x[j];
    sum[d] += 1.0;
  });
}

void centres_of(std::span<const double> w, std::span<const double> sums, std::span<double> centres) {
  const std::size_t k = sums.size() - w.size(), d = w.size() / k;
  base::check(centres.size() == w.size() && k * (d + 1) == sums.size(), "k centres, k sums and counts");
  for (std::size_t c = 0; c < k; ++c) {
    const auto sum = sums.subspan(c * (d + 1), d + 1);
    for (std::size_t j = 0; j < d; ++j) centres[c * d + j] = sum[d] > 0.0 ? sum[j] / sum[d] : w[c * d + j];
  }
}

}  // namespace simgrad::models

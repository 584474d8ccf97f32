#include "models/factorization_machine.h"

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace simgrad::models {

namespace {

/// The score s of a row. Fills `sums`, (k), with the row's sums of v_if x_i.
double score_of(const SparseRow& row, SparseModel::Parameters at, std::size_t k, double* sums) {
  std::fill(sums, sums + k, 0.0);
  double linear = at.dense[0], squares = 0.0;
  for (std::int64_t e = 0; e < row.count; ++e) {
    const double* const p = at.table + row.keys[e] * (k + 1);
    const double x = row.values ? row.values[e] : 1.0;
    linear += p[0] * x;
    for (std::size_t f = 0; f < k; ++f) {
      const double vx = p[1 + f] * x;
      sums[f] += vx;
      squares += vx * vx;
    }
  }
  double pairs = -squares;
  for (std::size_t f = 0; f < k; ++f) pairs += sums[f] * sums[f];
  return linear + 0.5 * pairs;
}

}  // namespace

void FactorizationMachine::describe(base::Describer& d) {
  d.integer("factors", factors, "the length of the vector that describes a feature, in addition to its weight",
            base::Bounds::between(1.0, 1e4));
  d.number("l2", l2, "the weight of the penalty l2/2 |w|^2 on all parameters", base::Bounds::at_least(0.0));
}

void FactorizationMachine::initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const {
  std::fill(w.begin(), w.end(), 0.0);
  base::Stream stream({.seed = seed, .purpose = base::Purpose::initial_values});
  const auto k = static_cast<std::size_t>(factors);
  for (std::size_t key = 0; key < static_cast<std::size_t>(problem.features); ++key)
    for (std::size_t f = 1; f <= k; ++f) w[key * (k + 1) + f] = 0.1 * stream.normal();
}

void FactorizationMachine::add_gradient(const Problem&, const Samples& rows, Parameters at, double scale,
                                        Gradient gradient) const {
  const auto k = static_cast<std::size_t>(factors);
  std::vector<double> sums(k);
  for_each_sparse_row(rows, [&](const SparseRow& row) {
    const double r = scale * logistic_slope(score_of(row, at, k, sums.data()), row.target);
    gradient.dense[0] += r;
    for (std::int64_t e = 0; e < row.count; ++e) {
      const double* const p = at.table + row.keys[e] * (k + 1);
      double* const g = gradient.table + row.keys[e] * (k + 1);
      const double x = row.values ? row.values[e] : 1.0, rx = r * x;
      g[0] += rx;
      for (std::size_t f = 0; f < k; ++f) g[1 + f] += rx * (sums[f] - p[1 + f] * x);
    }
  });
}

void FactorizationMachine::compute_scores(const Problem&, const Samples& rows, Parameters at,
                                          std::span<double> s) const {
  const auto k = static_cast<std::size_t>(factors);
  std::vector<double> sums(k);
  std::size_t next = 0;
  for_each_sparse_row(rows, [&](const SparseRow& row) { s[next++] = score_of(row, at, k, sums.data()); });
}

}  // namespace simgrad::models

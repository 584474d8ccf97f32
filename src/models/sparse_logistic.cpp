#include "models/sparse_logistic.h"

namespace simgrad::models {

namespace {

double score_of(const SparseRow& row, const double* w) {
  double s = 0.0;
  if (!row.values)
    for (std::int64_t e = 0; e < row.count; ++e) s += w[row.keys[e]];
  else
    for (std::int64_t e = 0; e < row.count; ++e) s += w[row.keys[e]] * row.values[e];
  return s;
}

}  // namespace

void SparseLogistic::add_gradient(const Problem&, const Samples& rows, Parameters at, double scale,
                                  Gradient gradient) const {
  double* const g = gradient.table;
  for_each_sparse_row(rows, [&](const SparseRow& row) {
    const double r = scale * logistic_slope(score_of(row, at.table), row.target);
    if (!row.values)
      for (std::int64_t e = 0; e < row.count; ++e) g[row.keys[e]] += r;
    else
      for (std::int64_t e = 0; e < row.count; ++e) g[row.keys[e]] += r * row.values[e];
  });
}

void SparseLogistic::compute_scores(const Problem&, const Samples& rows, Parameters at, std::span<double> s) const {
  std::size_t next = 0;
  for_each_sparse_row(rows, [&](const SparseRow& row) { s[next++] = score_of(row, at.table); });
}

}  // namespace simgrad::models

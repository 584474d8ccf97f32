#include "models/sparse_model.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace simgrad::models {

std::string SparseModel::refusal(const Problem& problem) const {
  if (problem.classes == 2) return {};
  return "sparse models predict one of two classes, but the data have " +
         (problem.classes == 0 ? std::string("a number to predict") : std::to_string(problem.classes));
}

double SparseModel::sparse_flops(const Problem& problem, std::int64_t rows, std::int64_t entries) const {
  const RowFlops flops = row_flops(problem);
  return (flops.an_entry_forward + flops.an_entry_backward) * static_cast<double>(entries) +
         (flops.a_row_forward + flops.a_row_backward) * static_cast<double>(rows);
}

std::vector<Layer> SparseModel::layers(const Problem& problem) const {
  const RowFlops flops = row_flops(problem);
  const double entries = entries_a_row(problem);
  const std::int64_t table = problem.features * width();
  std::vector<Layer> all{{.first = 0,
                          .count = table,
                          .forward_flops = flops.an_entry_forward * entries,
                          .backward_flops = flops.an_entry_backward * entries}};
  const std::vector<Layer> dense = dense_layers(problem, table);
  all.insert(all.end(), dense.begin(), dense.end());
  return all;
}

std::vector<Layer> SparseModel::dense_layers(const Problem& problem, std::int64_t first) const {
  const std::int64_t count = dense_parameters(problem);
  if (count == 0) return {};
  const RowFlops flops = row_flops(problem);
  return {
      {.first = first, .count = count, .forward_flops = flops.a_row_forward, .backward_flops = flops.a_row_backward}};
}

void SparseModel::check_sparse(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  // Rows that are all zeros have no keys.
  base::check(rows.starts && (rows.keys || rows.starts[rows.count] == rows.starts[0]),
              "a sparse model has sparse rows");
}

void SparseModel::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                           double penalty_scale, std::span<double> gradient) const {
  check_sparse(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  const std::int64_t table = problem.features * width();
  add_gradient(problem, rows, {w.data(), w.data() + table}, scale, {gradient.data(), gradient.data() + table});
}

Score SparseModel::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  const std::vector<double> s = scores(problem, rows, w);
  Score sum;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const Score one = logistic_score(s[static_cast<std::size_t>(i)], rows.targets[rows.row(i)]);
    sum.loss += one.loss;
    sum.metric += one.metric;
  }
  return sum;
}

std::vector<double> SparseModel::scores(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_sparse(problem, rows, w);
  std::vector<double> s(static_cast<std::size_t>(rows.count));
  compute_scores(problem, rows, {w.data(), w.data() + problem.features * width()}, s);
  return s;
}

void SparseModel::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                          std::span<double> predictions) const {
  std::size_t next = 0;
  for (const double s : scores(problem, rows, w)) {
    predictions[next++] = 1.0 / (1.0 + std::exp(s));
    predictions[next++] = 1.0 / (1.0 + std::exp(-s));
  }
}

double logistic_slope(double s, double y) {
  const double sign = 2.0 * y - 1.0;
  return -sign / (1.0 + std::exp(sign * s));
}

Score logistic_score(double s, double y) {
  const double m = (2.0 * y - 1.0) * s;
  return {.loss = std::max(-m, 0.0) + std::log1p(std::exp(-std::abs(m))),
          .metric = (s > 0.0) == (y != 0.0) ? 1.0 : 0.0};
}

}  // namespace simgrad::models

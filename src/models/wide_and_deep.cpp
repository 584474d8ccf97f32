#include "models/wide_and_deep.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "base/random.h"

namespace simgrad::models {

namespace {

SparseRow row_of(const Samples& rows, std::int64_t i) {
  const std::int64_t row = rows.row(i), first = rows.starts[row];
  return {rows.keys + first, rows.values ? rows.values + first : nullptr, rows.starts[row + 1] - first,
          rows.targets[row]};
}

/// The deep part's inputs as rows. Their targets are not read.
Samples as_rows(const std::vector<double>& inputs, const Samples& rows, std::int64_t columns) {
  return {.features = inputs.data(), .targets = rows.targets, .columns = columns, .count = rows.count};
}

}  // namespace

void WideAndDeep::describe(base::Describer& d) {
  d.integer("embedding", embedding, "the length of a key's embedding", base::Bounds::between(1.0, 1e4));
  d.numbers("hidden", hidden, "units of each dense layer, from the embeddings on: [64, 32]; relu",
            base::Bounds::between(1.0, 1e6));
  if (hidden.empty())
    d.refuse("hidden", "the deep part has at least one hidden layer; without any it is sparse_logistic");
  if (std::ranges::any_of(hidden, [](double width) { return width != std::floor(width); }))
    d.refuse("hidden", "units are counted: expected whole numbers, as in hidden = [64, 32]");
  d.flag("bias", bias, "a constant feature for every dense unit, the output included");
  d.number("l2", l2, "the weight of the penalty l2/2 |w|^2 on all parameters", base::Bounds::at_least(0.0));
}

std::string WideAndDeep::refusal(const Problem& problem) const {
  if (const std::string why = SparseModel::refusal(problem); !why.empty()) return why;
  if (problem.fields > 0 || problem.nonzeros == 0.0) return {};
  return "wide_and_deep takes one embedding for each field, so all rows must have the same number of entries; use "
         "sparse_logistic or factorization_machine, or data such as click_log's";
}

DenseShape WideAndDeep::shape(const Problem& problem) const {
  const std::int64_t fields = problem.fields > 0 ? problem.fields : problem.features;
  DenseShape shape{.widths = {fields * embedding}, .bias = bias, .activation = Activation::relu};
  for (const double width : hidden) shape.widths.push_back(static_cast<std::int64_t>(width));
  shape.widths.push_back(1);
  return shape;
}

std::int64_t WideAndDeep::dense_parameters(const Problem& problem) const {
  const std::vector<std::int64_t> widths = shape(problem).widths;
  std::int64_t count = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) count += (widths[l] + (bias ? 1 : 0)) * widths[l + 1];
  return count;
}

SparseModel::RowFlops WideAndDeep::row_flops(const Problem& problem) const {
  const std::vector<std::int64_t> widths = shape(problem).widths;
  double weights = 0.0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) weights += static_cast<double>(widths[l] * widths[l + 1]);
  const auto k = static_cast<double>(embedding);
  return {.an_entry_forward = 2.0 + k,
          .an_entry_backward = 2.0 + 2.0 * k,
          .a_row_forward = 2.0 * weights,
          .a_row_backward = 4.0 * weights};
}

/// The first dense layer, too, computes gradients of its inputs: embeddings are below it.
std::vector<Layer> WideAndDeep::dense_layers(const Problem& problem, std::int64_t first) const {
  const std::vector<std::int64_t> widths = shape(problem).widths;
  std::vector<Layer> all;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const std::int64_t weights = widths[l] * widths[l + 1], count = weights + (bias ? widths[l + 1] : 0);
    const auto products = static_cast<double>(weights);
    all.push_back({.first = first,
                   .count = count,
                   .forward_flops = 2.0 * products,
                   .backward_flops = 4.0 * products,
                   .rows = widths[l + 1],
                   .columns = widths[l]});
    first += count;
  }
  return all;
}

void WideAndDeep::initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const {
  std::fill(w.begin(), w.end(), 0.0);
  const auto k = static_cast<std::size_t>(embedding);
  base::Stream table({.seed = seed, .purpose = base::Purpose::initial_values});
  for (std::size_t key = 0; key < static_cast<std::size_t>(problem.features); ++key)
    for (std::size_t f = 1; f <= k; ++f) w[key * (k + 1) + f] = 0.1 * table.normal();
  const std::vector<std::int64_t> widths = shape(problem).widths;
  auto next = static_cast<std::size_t>(problem.features * width());
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    base::Stream layer({.seed = seed, .purpose = base::Purpose::initial_values, .step = l + 1});
    const double he = std::sqrt(2.0 / static_cast<double>(widths[l]));
    for (std::int64_t j = 0; j < widths[l] * widths[l + 1]; ++j) w[next++] = he * layer.normal();
    if (bias) next += static_cast<std::size_t>(widths[l + 1]);
  }
}

std::vector<double> WideAndDeep::inputs(const Problem& problem, const Samples& rows, const double* table) const {
  const auto k = static_cast<std::size_t>(embedding);
  const auto columns = static_cast<std::size_t>(shape(problem).widths.front());
  std::vector<double> x(static_cast<std::size_t>(rows.count) * columns);
  double* next = x.data();
  for_each_sparse_row(rows, [&](const SparseRow& row) {
    const bool one_a_field = static_cast<std::size_t>(row.count) * k == columns;
    base::check(one_a_field || problem.fields == 0, "a row has one entry a field");
    if (!one_a_field) {  // the training rows have no entries at all: the deep part sees zeros
      next += columns;
      return;
    }
    for (std::int64_t e = 0; e < row.count; ++e) {
      const double* const p = table + row.keys[e] * (k + 1) + 1;
      const double value = row.values ? row.values[e] : 1.0;
      for (std::size_t f = 0; f < k; ++f) *next++ = p[f] * value;
    }
  });
  return x;
}

double WideAndDeep::wide_score(const SparseRow& row, const double* table) const {
  double s = 0.0;
  for (std::int64_t e = 0; e < row.count; ++e)
    s += table[row.keys[e] * static_cast<std::size_t>(width())] * (row.values ? row.values[e] : 1.0);
  return s;
}

void WideAndDeep::add_gradient(const Problem& problem, const Samples& rows, Parameters at, double scale,
                               Gradient gradient) const {
  const auto k = static_cast<std::size_t>(embedding);
  const auto dense = static_cast<std::size_t>(dense_parameters(problem));
  const DenseShape deep = shape(problem);
  const std::vector<double> x = inputs(problem, rows, at.table);
  pass_backward(
      deep, as_rows(x, rows, deep.widths.front()), {at.dense, dense}, {gradient.dense, dense},
      [&](const OutputBlock& block) {
        for (std::int64_t i = 0; i < block.rows; ++i) {
          const SparseRow row = row_of(rows, block.first + i);
          double& z = block.outputs[static_cast<std::size_t>(i)];
          z = scale * logistic_slope(z + wide_score(row, at.table), row.target);
          for (std::int64_t e = 0; e < row.count; ++e)
            gradient.table[row.keys[e] * (k + 1)] += z * (row.values ? row.values[e] : 1.0);
        }
      },
      [&](const OutputBlock& block) {
        const double* dx = block.outputs.data();
        for (std::int64_t i = 0; i < block.rows; ++i) {
          const SparseRow row = row_of(rows, block.first + i);
          for (std::int64_t e = 0; e < row.count; ++e) {
            double* const g = gradient.table + row.keys[e] * (k + 1) + 1;
            const double value = row.values ? row.values[e] : 1.0;
            for (std::size_t f = 0; f < k; ++f) g[f] += *dx++ * value;
          }
        }
      });
}

void WideAndDeep::compute_scores(const Problem& problem, const Samples& rows, Parameters at,
                                 std::span<double> s) const {
  const DenseShape deep = shape(problem);
  const std::vector<double> x = inputs(problem, rows, at.table);
  pass_forward(deep, as_rows(x, rows, deep.widths.front()),
               {at.dense, static_cast<std::size_t>(dense_parameters(problem))}, [&](const OutputBlock& block) {
                 for (std::int64_t i = 0; i < block.rows; ++i)
                   s[static_cast<std::size_t>(block.first + i)] =
                       block.outputs[static_cast<std::size_t>(i)] + wide_score(row_of(rows, block.first + i), at.table);
               });
}

}  // namespace simgrad::models

/// Models whose prediction is a function of one score s = x . w. They differ in the residual alone.
#pragma once

#include <span>

#include "models/model.h"
#include "models/rows.h"

namespace simgrad::models {

class LinearModel : public Model {
 public:
  std::int64_t parameters(const Problem& problem) const final { return problem.features; }

  /// Counts 2 d flops for the score and 2 d for adding r x to g. Left out: the residual (a few a row) and the penalty
  /// (2 d a gradient).
  std::vector<Layer> layers(const Problem& problem) const final {
    const auto d = static_cast<double>(problem.features);
    return {{.first = 0,
             .count = problem.features,
             .forward_flops = 2.0 * d,
             .backward_flops = 2.0 * d,
             .products = {{.m = 1.0, .n = 1.0, .k = d}},
             .kept = {.numbers = d},
             .entrance = d}};
  }

 protected:
  /// Adds scale * sum over the rows of residual(s_i, y_i) x_i to g, in one pass.  residual: d loss / d s.
  template <class Residual>
  static void add_gradient(const Samples& rows, std::span<const double> w, double scale, std::span<double> g,
                           Residual residual) {
    for_each_block(rows, [&](const RowBlock& block) {
      BlockNumbers r = first_dot(block, w.data(), rows.columns);
      for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i) r[i] = scale * residual(r[i], block.y[i]);
      add(block, r, g.data(), rows.columns);
    });
  }

  /// Calls visit(s_i) with the scores of the rows, in their order.
  template <class Visit>
  static void for_each_score(const Samples& rows, std::span<const double> w, Visit visit) {
    for_each_block(rows, [&](const RowBlock& block) {
      const BlockNumbers s = first_dot(block, w.data(), rows.columns);
      for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i) visit(s[i]);
    });
  }

  /// The sum over the rows of row_score(s_i, y_i), in one pass.
  template <class RowScore>
  static Score sum_scores(const Samples& rows, std::span<const double> w, RowScore row_score) {
    Score sum;
    for_each_block(rows, [&](const RowBlock& block) {
      const BlockNumbers s = first_dot(block, w.data(), rows.columns);
      for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i) {
        const Score one = row_score(s[i], block.y[i]);
        sum.loss += one.loss;
        sum.metric += one.metric;
      }
    });
    return sum;
  }
};

}  // namespace simgrad::models

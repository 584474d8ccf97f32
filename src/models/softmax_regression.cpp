#include "models/softmax_regression.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/errors.h"
#include "models/rows.h"

namespace simgrad::models {
namespace {

/// S: (k), one block's scores for each class. It is on the heap because k may be large and an actor's stack is small.
using ClassScores = std::vector<BlockNumbers>;

void scores(const RowBlock& block, std::span<const double> w, std::int64_t d, ClassScores& S) {
  const double* w_c = w.data();
  for (BlockNumbers& s : S) {
    s = &s == &S.front() ? first_dot(block, w_c, d) : dot(block, w_c, d);
    w_c += d;
  }
}

std::size_t predicted_class(const ClassScores& S, std::size_t i) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < S.size(); ++c)
    if (S[c][i] > S[best][i]) best = c;
  return best;
}

/// The sum over c of exp(s_c - s_max) for row i; it lies between 1 and k.
double sum_of_exponentials(const ClassScores& S, std::size_t i, double s_max) {
  double sum = 0.0;
  for (const BlockNumbers& s : S) sum += std::exp(s[i] - s_max);
  return sum;
}

/// Replaces row i's scores by its residuals, times scale: r_c = p_c - [c = y], p_c = exp(s_c) / sum over b of exp(s_b).
void scores_to_residuals(ClassScores& S, std::size_t i, double y, double scale) {
  const double s_max = S[predicted_class(S, i)][i];
  double sum = 0.0;
  for (BlockNumbers& s : S) sum += s[i] = std::exp(s[i] - s_max);
  const double factor = scale / sum;
  for (BlockNumbers& s : S) s[i] *= factor;
  S[class_number(y, S.size())][i] -= scale;
}

}  // namespace

std::string SoftmaxRegression::refusal(const Problem& problem) const {
  if (problem.classes >= 2) return {};
  if (problem.classes == 0) return "softmax_regression needs classes, but the data are a regression; use least_squares";
  return "softmax_regression needs two classes or more, but the data have " + std::to_string(problem.classes);
}

/// Counts 2 d k flops for the scores and 2 d k for adding x r^T to G. Left out: exponentials and residuals (about 4 k a
/// row) and the penalty (2 d k a gradient).
std::vector<Layer> SoftmaxRegression::layers(const Problem& problem) const {
  const double flops = 2.0 * static_cast<double>(parameters(problem));
  return {{.first = 0,
           .count = parameters(problem),
           .forward_flops = flops,
           .backward_flops = flops,
           .rows = problem.classes,
           .columns = problem.features,
           .products = {
               {.m = 1.0, .n = static_cast<double>(problem.classes), .k = static_cast<double>(problem.features)}}}};
}

void SoftmaxRegression::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                                 double penalty_scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  ClassScores S(static_cast<std::size_t>(problem.classes));
  for_each_block(rows, [&](const RowBlock& block) {
    scores(block, w, rows.columns, S);
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i)
      scores_to_residuals(S, i, block.y[i], scale);
    double* g_c = gradient.data();
    for (const BlockNumbers& r : S) {
      add(block, r, g_c, rows.columns);
      g_c += rows.columns;
    }
  });
}

Score SoftmaxRegression::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  Score sum;
  ClassScores S(static_cast<std::size_t>(problem.classes));
  for_each_block(rows, [&](const RowBlock& block) {
    scores(block, w, rows.columns, S);
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i) {
      const std::size_t y = class_number(block.y[i], S.size());
      const std::size_t best = predicted_class(S, i);
      const double s_max = S[best][i];
      sum.loss += (s_max - S[y][i]) + std::log(sum_of_exponentials(S, i, s_max));
      sum.metric += best == y ? 1.0 : 0.0;
    }
  });
  return sum;
}

void SoftmaxRegression::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                                std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  ClassScores S(static_cast<std::size_t>(problem.classes));
  std::size_t next = 0;
  for_each_block(rows, [&](const RowBlock& block) {
    scores(block, w, rows.columns, S);
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i) {
      const double s_max = S[predicted_class(S, i)][i], sum = sum_of_exponentials(S, i, s_max);
      for (const BlockNumbers& s : S) predictions[next++] = std::exp(s[i] - s_max) / sum;
    }
  });
}

}  // namespace simgrad::models

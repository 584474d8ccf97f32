#include "models/logistic_regression.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace simgrad::models {
namespace {

/// 1 for class 1, -1 for class 0. Computed without a branch, which random classes would make the processor mispredict
/// half the time.
double sign_of_class(double y) { return 2.0 * y - 1.0; }

/// d/ds log(1 + exp(-m)) = -sign / (1 + exp(m)).  Where exp overflows, the quotient is 0, as it should be. The small
/// residual of a row that is clearly right is not a difference of two numbers near 1.
double residual(double s, double y) {
  const double sign = sign_of_class(y);
  return -sign / (1.0 + std::exp(sign * s));
}

/// log(1 + exp(-m)), whose exponent is never positive here: nothing overflows.
double loss(double m) { return std::max(-m, 0.0) + std::log1p(std::exp(-std::abs(m))); }

}  // namespace

std::string LogisticRegression::refusal(const Problem& problem) const {
  if (problem.classes == 2) return {};
  if (problem.classes == 0)
    return "logistic_regression needs two classes, but the data are a regression; use least_squares";
  constexpr std::int64_t many = 50;  // a target of so many values is hardly a class
  return "logistic_regression needs two classes, but the data have " + std::to_string(problem.classes) +
         (problem.classes > many ? "; to predict a number use least_squares"
          : problem.classes > 2  ? "; use softmax_regression"
                                 : "");
}

void LogisticRegression::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                                  double penalty_scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  add_gradient(rows, w, scale, gradient, residual);
}

Score LogisticRegression::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  return sum_scores(rows, w, [](double s, double y) {
    const bool right = (s > 0.0) == (y != 0.0);
    return Score{.loss = loss(sign_of_class(y) * s), .metric = right ? 1.0 : 0.0};
  });
}

void LogisticRegression::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                                 std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  std::size_t next = 0;
  for_each_score(rows, w, [&](double s) {
    predictions[next++] = 1.0 / (1.0 + std::exp(s));
    predictions[next++] = 1.0 / (1.0 + std::exp(-s));
  });
}

}  // namespace simgrad::models

#include "models/least_squares.h"

#include <string>

namespace simgrad::models {

std::string LeastSquares::refusal(const Problem& problem) const {
  if (problem.classes == 0) return {};
  return "least_squares needs a regression, but the data have " + std::to_string(problem.classes) + " classes; use " +
         (problem.classes == 2 ? "logistic_regression" : "softmax_regression");
}

void LeastSquares::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                            double penalty_scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  add_gradient(rows, w, scale, gradient, [](double s, double y) { return s - y; });
}

Score LeastSquares::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  return sum_scores(rows, w, [](double s, double y) {
    const double r = s - y;
    return Score{.loss = 0.5 * r * r, .metric = r * r};
  });
}

void LeastSquares::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                           std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  std::size_t next = 0;
  for_each_score(rows, w, [&](double s) { predictions[next++] = s; });
}

}  // namespace simgrad::models

/// Least squares: the loss of a row is (x . w - y)^2 / 2.
/// Source: C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 3.1.1.
/// Cost: 4 d flops a sample.
#pragma once

#include "models/linear_model.h"

namespace simgrad::models {

class LeastSquares final : public LinearModel {
 public:
  static constexpr base::About about{
      .kind = "least_squares",
      .summary = "Linear regression: the mean of (x.w - y)^2 / 2.",
      .cost = "4 d flops a sample",
      .source = "C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 3.1.1"};

  Predicts predicts() const override { return Predicts::number; }
  std::string refusal(const Problem& problem) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;
};

}  // namespace simgrad::models

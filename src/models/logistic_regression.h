/// Logistic regression on two classes: the loss of a row is log(1 + exp(-m)), its margin m = s for class 1 and -s for
/// class 0, with s = x . w.
/// Source: C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 4.3.2.
/// Cost: 4 d flops a sample.
#pragma once

#include "models/linear_model.h"

namespace simgrad::models {

class LogisticRegression final : public LinearModel {
 public:
  static constexpr base::About about{
      .kind = "logistic_regression",
      .summary = "Two classes: the mean of log(1 + exp(-m)), the margin m = x.w for class 1 and -x.w for class 0.",
      .cost = "4 d flops a sample",
      .source = "C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 4.3.2"};

  Predicts predicts() const override { return Predicts::classes; }
  std::string refusal(const Problem& problem) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  /// Loss and accuracy; a score of exactly zero predicts class 0.
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;
};

}  // namespace simgrad::models

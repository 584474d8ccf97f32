/// Softmax regression on k classes: the loss of a row of class y is log(sum over c of exp(s_c)) - s_y, s_c = x . w_c.
///
/// w is the (d x k) matrix of the w_c, column by column: w_c is w[c d] .. w[c d + d - 1]. Every class is a linear model
/// on the same block of rows.
/// Source: C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 4.3.4.
/// Cost: 4 d k flops a sample.
#pragma once

#include "models/model.h"

namespace simgrad::models {

class SoftmaxRegression final : public Model {
 public:
  static constexpr base::About about{
      .kind = "softmax_regression",
      .summary = "k classes: the mean of log(sum of exp(x.w_c)) - x.w_y; w is (d x k), class after class.",
      .cost = "4 d k flops a sample",
      .source = "C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 4.3.4"};

  Predicts predicts() const override { return Predicts::classes; }
  std::string refusal(const Problem& problem) const override;
  std::int64_t parameters(const Problem& problem) const override { return problem.features * problem.classes; }
  std::vector<Layer> layers(const Problem& problem) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  /// Loss and accuracy; among equal scores the first class is predicted.
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;
};

}  // namespace simgrad::models

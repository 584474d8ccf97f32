/// Matrix factorization for recommendation: the rating of item i by user u is p_u . q_i, with f factors each, and with
/// biases b_u + b_i more; the loss of a rating is half its squared error.
///
/// w holds p_u user after user, then q_i item after item, then all b_u and all b_i. The mean rating has no parameter
/// because standardize_target subtracts it. The penalty l2/2 |w|^2 counts every parameter once (Koren's counts it once
/// a rating).
/// Source: Y. Koren, R. Bell, C. Volinsky, Matrix Factorization Techniques for Recommender Systems, 2009, equations
/// 2, 5. Cost: 6 f flops a rating, 4 more with biases.
#pragma once

#include "models/model.h"

namespace simgrad::models {

class MatrixFactorization final : public Model {
 public:
  static constexpr base::About about{
      .kind = "matrix_factorization",
      .summary = "Recommendation: a rating is p_u . q_i (+ b_u + b_i); the mean of half its squared error.",
      .cost = "6 f flops a rating (f factors), 4 more with biases",
      .source = "Y. Koren, R. Bell, C. Volinsky, Matrix Factorization Techniques for Recommender Systems, 2009"};

  std::int64_t factors = 8;

  void describe(base::Describer& d) override;

  Predicts predicts() const override { return Predicts::rating; }
  /// Takes no column of ones: the columns are the numbers of a user and of an item.
  bool constant_feature() const override { return false; }
  std::string refusal(const Problem& problem) const override;
  std::int64_t parameters(const Problem& problem) const override;
  /// Three layers: the users' factors, the items' factors, the biases.
  std::vector<Layer> layers(const Problem& problem) const override;
  /// Draws factors from N(0, 0.01), a standard deviation of 0.1; biases are 0.
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;
};

}  // namespace simgrad::models

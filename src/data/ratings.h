/// Ratings of items by users, generated from hidden factors: for recommendation.
#pragma once

#include "data/generator.h"

namespace simgrad::data {

/// rating = 3 + sqrt(1 - noise^2) p_u . q_i / sqrt(factors) + noise N(0, 1), with p_u and q_i from N(0, 1): mean 3,
/// standard deviation about 1. User and item of a sample are drawn uniformly, so that some pairs occur twice and many
/// never. The best possible mean squared error is noise^2 of the variance: a loss of noise^2 / 2 with a standardised
/// target.
///
/// The factors of each user and item come from a stream of their own, so they do not depend on the number of others.
struct Ratings : RowGenerator {
  static constexpr base::About about{
      .kind = "ratings",
      .summary = "Ratings of items by users, generated from hidden factors of both (recommendation)",
      .cost = "two normal draws a factor and rating",
      .source = "R. Salakhutdinov, A. Mnih, Probabilistic Matrix Factorization, 2008"};

  std::int64_t users = 100;
  std::int64_t items = 50;
  std::int64_t factors = 4;
  double noise = 0.3;

  void describe(base::Describer& d) override;
  bool suits(Task task) const override { return serves(Task::recommendation, task); }
  /// The two features: user and item.
  std::optional<std::int64_t> fixed_features() const override { return 2; }
  Rows rows(const Request& request) const override;
};

}  // namespace simgrad::data

/// Houses and their prices: a linear regression with correlated, partly irrelevant features.
#pragma once

#include <vector>

#include "data/generator.h"

namespace simgrad::data {

/// price = mean + sum_j w_j (x_j - mean_j) + noise, in money; features in their own units (area in m2, age in years).
///
/// Features: standardised, feature j is +-z_j with z_1 ~ N(0, 1) and z_j = c z_{j-1} + sqrt(1 - c^2) N(0, 1), so that
/// features i and j have correlation +-c^|i-j|. The eigenvalues of that matrix lie between (1-c)/(1+c) and (1+c)/(1-c)
/// for any number of features: 1/3 and 3 for the default, so gradient descent on the standardised data is stable up to
/// a learning rate of 2/3 and no direction is slower than 1/9 of the fastest.
///
/// Weights: floor(zero_weights * features) of them are zero, evenly spread (by default every fourth feature, beginning
/// with the house number). A weight's size per standard deviation of its feature is uniform in [0.5, 1.5] before
/// all are scaled; the named features have the expected sign. With any options prices have mean 400 000 and standard
/// deviation 80 000. The noise's standard deviation is the share `noise` of that, so the best possible mean squared
/// error is noise^2 of the variance: a loss of noise^2 / 2 with a standardised target.
struct HousePrices : RowGenerator {
  static constexpr base::About about{
      .kind = "house_prices",
      .summary = "Houses and their prices: linear, noisy, with correlated and irrelevant features (regression)",
      .cost = "one normal draw a number",
      .source =
          "First-order autoregressive design, a usual test of linear regression (R. Tibshirani, Regression "
          "Shrinkage and Selection via the Lasso, JRSS B 58, 1996)"};

  double noise = 0.1;
  double correlation = 0.5;
  double zero_weights = 0.25;

  void describe(base::Describer& d) override;
  bool suits(Task task) const override { return serves(Task::regression, task); }
  Rows rows(const Request& request) const override;

  /// The true weights: money per unit of each feature.  Returns (features).
  std::vector<double> weights(std::uint64_t seed, std::int64_t features) const;
  /// The constant of the true line: the price of a house whose features are all zero.
  double constant(std::uint64_t seed, std::int64_t features) const;
};

}  // namespace simgrad::data

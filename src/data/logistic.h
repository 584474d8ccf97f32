/// Two classes drawn from a logistic model.
#pragma once

#include <vector>

#include "data/generator.h"

namespace simgrad::data {

/// Features x ~ N(0, 1), independent; P(class 1 | x) = 1 / (1 + exp(-(w.x))); then a share `flip` of the labels is
/// flipped. The true w has a random direction and |w| = margin, so that the log-odds w.x ~ N(0, margin^2) for any
/// number of features. A margin of 0 is a coin toss, 3 leaves a Bayes error of about 16 %, 10 one of about 5 %.
struct Logistic : RowGenerator {
  static constexpr base::About about{
      .kind = "logistic",
      .summary = "Two classes drawn from a logistic model with known weights",
      .cost = "one normal draw a number",
      .source = "D. R. Cox, The Regression Analysis of Binary Sequences, JRSS B 20, 1958"};

  double margin = 3.0;
  double flip = 0.0;

  void describe(base::Describer& d) override;
  bool suits(Task task) const override { return serves(Task::classification, task); }
  Rows rows(const Request& request) const override;

  /// The true weights.  Returns (features).
  std::vector<double> weights(std::uint64_t seed, std::int64_t features) const;
};

}  // namespace simgrad::data

/// A text whose entropy is known: a Markov chain over tokens.
#pragma once

#include "data/generator.h"

namespace simgrad::data {

/// The next token depends on the last `order` ones: its distribution is proportional to exp(sharpness z) with z from
/// N(0, 1), drawn by the seed for each of them. Every row of T + 1 tokens begins in the stationary distribution. So the
/// expected loss of the best predictor is known: over a row's T predictions the mean entropy of the next token given
/// all before it, which from the order-th prediction on is the chain's entropy rate. With sharpness 0 it is
/// ln(vocabulary).
struct Markov : RowGenerator {
  static constexpr base::About about{
      .kind = "markov",
      .summary = "A Markov chain over tokens, whose entropy, the least loss there can be, is known (transformer)",
      .cost = "vocabulary^(order + 1) normal draws, and one draw per token",
      .source = "C. E. Shannon, A Mathematical Theory of Communication, 1948, sections 2 to 7"};

  std::int64_t vocabulary = 32;
  std::int64_t order = 1;
  double sharpness = 2.0;

  void describe(base::Describer& d) override;
  bool suits(Task task) const override { return task == Task::text; }
  Rows rows(const Request& request) const override;
};

}  // namespace simgrad::data

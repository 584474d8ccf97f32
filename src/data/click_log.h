/// A log of clicks: sparse rows of keys by Zipf's law, and whether somebody clicked.
#pragma once

#include "data/generator.h"

namespace simgrad::data {

/// Every row has one key in each of `nonzeros` fields; its value is 1. Field f has the keys f, f + F, f + 2 F, ..., the
/// most frequent first, as in a vocabulary sorted by frequency: the r-th of them is drawn with a probability that is
/// proportional to r^-zipf. P(click) = 1 / (1 + exp(-s)) with s = margin / sqrt(F) times the sum of the weights of the
/// row's keys, each N(0, 1).
///
/// With `drift` the rows are in the order of time, t = row / rows, and what is learnt from old ones does not last. A
/// key's weight is a cos(u) + b sin(u) with u = pi/2 drift t, a and b from N(0, 1): at drift t = 1 it says nothing of
/// the first. And a tenth of each field's keys has been its hottest by then: the key of rank r at time t is number r -
/// drift t keys / 10, counted around, so that new keys come in hot and cool down.
struct ClickLog : Generator {
  static constexpr base::About about{
      .kind = "click_log",
      .summary = "A log of clicks: sparse rows of keys by Zipf's law over millions of features, maybe drifting in time",
      .cost = "a draw by Zipf's law and two normal draws an entry; 4 bytes an entry",
      .source = "H. B. McMahan et al., Ad Click Prediction: a View from the Trenches, 2013 (the setting)"};

  std::int64_t fields = 20;
  double zipf = 1.1;
  double margin = 3.0;
  double drift = 0.0;

  void describe(base::Describer& d) override;
  bool suits(Task task) const override { return task == Task::classification; }
  std::optional<std::int64_t> nonzeros() const override { return fields; }
  std::int64_t default_features() const override { return 10'000; }
  /// Errors: ScenarioError for another task, for fewer features than fields, or for more than can be held.
  Dataset load(const Request& request) const override;
};

}  // namespace simgrad::data

/// A log of clicks: sparse rows of keys drawn by Zipf's law, each labelled by whether there was a click.
#pragma once

#include "data/generator.h"

namespace simgrad::data {

/// Every row has one key in each of `nonzeros` fields; its value is 1. Field f has the keys f, f + F, f + 2 F, ..., the
/// most frequent first, as in a vocabulary sorted by frequency: the r-th of them is drawn with a probability that is
/// proportional to r^-zipf. P(click) = 1 / (1 + exp(-s)) with s = margin / sqrt(F) times the sum of the weights of the
/// row's keys, each N(0, 1).
///
/// With `drift` the rows are in the order of time, t = row / rows, and parameters learnt from old rows become wrong. A
/// key's weight is a cos(u) + b sin(u) with u = pi/2 drift t, a and b from N(0, 1): at drift t = 1 it is independent of
/// its first value. The hot keys change, too: the key of rank r at time t is number r - drift t keys / 10, modulo the
/// number of keys, so that new keys start hot and cool down. By drift t = 1 a tenth of each field's keys has been the
/// hottest.
struct ClickLog : Generator {
  static constexpr base::About about{
      .kind = "click_log",
      .summary =
          "A log of clicks: sparse rows of keys by Zipf's law over millions of features, with optional drift in time",
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
  /// Errors: ScenarioError for another task, for fewer features than fields, or for a data set that is too large.
  Dataset load(const Request& request) const override;
};

}  // namespace simgrad::data

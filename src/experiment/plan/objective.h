/// The goal by which `simgrad plan` compares ways to train: money, time, energy, or a weighted sum of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::experiment {

/// The time, the money and the energy that a training takes to its goal.
struct Measures {
  double time_s = 0.0;
  std::optional<double> usd = {};       ///< null: nothing prices it
  std::optional<double> energy_j = {};  ///< likewise

  bool operator==(const Measures&) const = default;
};

/// The number that a plan makes as small as it can.
class Objective : public base::Described {
 public:
  /// Grows with each of the measures. A measure that is null counts as 0.
  virtual double value(const Measures& measures) const = 0;
  /// The value in words, as "$12.30".
  virtual std::string text(double value) const = 0;
  /// "cheapest", "fastest": for sentences.
  virtual std::string_view superlative() const = 0;
  virtual bool needs_dollars() const { return false; }
  virtual bool needs_energy() const { return false; }
  void describe(base::Describer&) override {}
};

/// The objectives that [plan] can name.
const base::Registry<Objective>& objectives();

}  // namespace simgrad::experiment

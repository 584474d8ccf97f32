#include "experiment/plan/objective.h"

#include <fmt/format.h>

#include "outputs/text/number_text.h"

namespace simgrad::experiment {

namespace {

struct Cheapest final : Objective {
  static constexpr base::About about{.kind = "cheapest",
                                     .summary = "the least money to the goal, at the prices of [prices]",
                                     .cost = {},
                                     .source = {}};
  double value(const Measures& measures) const override { return measures.usd.value_or(0.0); }
  std::string text(double value) const override { return outputs::dollars(value); }
  std::string_view superlative() const override { return "cheapest"; }
  bool needs_dollars() const override { return true; }
};

struct Fastest final : Objective {
  static constexpr base::About about{
      .kind = "fastest", .summary = "the least simulated time to the goal", .cost = {}, .source = {}};
  double value(const Measures& measures) const override { return measures.time_s; }
  std::string text(double value) const override { return outputs::duration(value); }
  std::string_view superlative() const override { return "fastest"; }
};

struct LeastEnergy final : Objective {
  static constexpr base::About about{.kind = "least_energy",
                                     .summary = "the least energy to the goal, at the powers of [prices]",
                                     .cost = {},
                                     .source = {}};
  double value(const Measures& measures) const override { return measures.energy_j.value_or(0.0); }
  std::string text(double value) const override { return outputs::joules(value); }
  std::string_view superlative() const override { return "most frugal"; }
  bool needs_energy() const override { return true; }
};

/// Dollars, hours and kilowatt hours, each with a weight.
struct Weighted final : Objective {
  static constexpr base::About about{.kind = "weighted",
                                     .summary = "the least weighted sum of money, time and energy to the goal",
                                     .cost = "dollars x $ + hours x h + kilowatt_hours x kWh",
                                     .source = {}};
  double dollars = 1.0;
  double hours = 0.0;
  double kilowatt_hours = 0.0;

  void describe(base::Describer& d) override {
    const auto weight = base::Bounds::at_least(0);
    d.number("dollars", dollars, "weight of a dollar", weight);
    d.number("hours", hours, "weight of an hour", weight);
    d.number("kilowatt_hours", kilowatt_hours, "weight of a kilowatt hour", weight);
    if (!(dollars + hours + kilowatt_hours > 0.0))
      d.refuse("dollars", "all weights are 0, so that every way to train is as good; give one above 0");
  }
  double value(const Measures& measures) const override {
    return dollars * measures.usd.value_or(0.0) + hours * measures.time_s / 3600.0 +
           kilowatt_hours * measures.energy_j.value_or(0.0) / 3.6e6;
  }
  std::string text(double value) const override { return fmt::format("a weighted sum of {}", outputs::count(value)); }
  std::string_view superlative() const override { return "best"; }
  bool needs_dollars() const override { return dollars > 0.0; }
  bool needs_energy() const override { return kilowatt_hours > 0.0; }
};

}  // namespace

const base::Registry<Objective>& objectives() {
  static const base::Registry<Objective> all({base::entry<Objective, Cheapest>(), base::entry<Objective, Fastest>(),
                                              base::entry<Objective, LeastEnergy>(),
                                              base::entry<Objective, Weighted>()});
  return all;
}

}  // namespace simgrad::experiment

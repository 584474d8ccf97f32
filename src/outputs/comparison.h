/// The comparison of the results: a row per (grid point, label), with means over the seeds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs {

struct Row {
  std::string label;
  nlohmann::ordered_json parameters;
  std::int64_t workers = 1;

  // Numbers of runs; there is one run per seed.
  std::int64_t seeds = 0;
  std::int64_t reached = 0;
  std::int64_t diverged = 0;
  std::int64_t failed = 0;

  // Means over the runs that did not fail and have the number; nothing if none has.
  std::optional<double> simulated_s;
  std::optional<double> time_to_target_s;
  std::optional<double> time_to_target_spread;  ///< sample standard deviation / mean; needs two seeds
  std::optional<double> speedup_throughput;
  std::optional<double> speedup_time_to_target;
  std::optional<double> efficiency;
  std::optional<double> samples_per_s;
  std::optional<double> cost_usd;
  std::optional<double> cost_to_target_usd;
  std::optional<double> energy_j;
  std::optional<double> bytes;
  std::optional<double> messages;
  std::optional<double> final_loss;
  std::optional<double> final_metric;
  std::optional<std::array<double, 4>> parts_s;  ///< compute, communicate, wait, down

  bool all_reached() const { return reached == seeds; }
  bool sound() const { return failed == 0 && diverged == 0; }
};

struct Comparison {
  std::vector<Row> rows;  ///< grid points in the order of their first runs, labels likewise
  std::vector<Row> baselines;
  std::vector<std::string> parameters;  ///< the grid's keys, in the order of first use
  bool has_target = false;
  std::optional<double> target;  ///< the loss, if it is the same for all runs
  std::string metric_name;       ///< empty if runs have none or several
};

Comparison comparison(const Results& results);

/// Returns "learning_rate" for "training.learning_rate", unless another of the keys has the same last part.
std::string short_name(const std::string& key, const std::vector<std::string>& keys);

/// Returns a parameter's value; texts are without quotes.
std::string value_text(const nlohmann::ordered_json& value);

/// Returns "workers=8, latency=50us". Empty without a grid.
std::string point_text(const nlohmann::ordered_json& parameters);

/// Divides `total` cells in the proportions of the parts, by largest remainder; of equal remainders the first gets the
/// cell. The cells add up to `total`, or to 0 if the parts add up to 0.
std::array<int, 4> apportioned(const std::array<double, 4>& parts, int total);

/// Returns the row with the least time to the target, among rows that reached it with every seed; null if none did.
const Row* fastest(const Comparison& comparison);
/// Returns the row with the least cost to the target, among the same rows; null if none has a cost.
const Row* cheapest(const Comparison& comparison);

}  // namespace simgrad::outputs

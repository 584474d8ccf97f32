/// The results as they are compared: a row a (grid point, label), means over its seeds.
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

  // Runs, one a seed.
  std::int64_t seeds = 0;
  std::int64_t reached = 0;
  std::int64_t diverged = 0;
  std::int64_t failed = 0;

  // Means over the runs that did not fail and have the number; nothing where none has.
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
  std::vector<Row> rows;  ///< as given: grid points in the order of their first run, labels likewise
  std::vector<Row> baselines;
  std::vector<std::string> parameters;  ///< the grid's keys in first-seen order
  bool has_target = false;
  std::optional<double> target;  ///< the loss, where one holds for all
  std::string metric_name;       ///< empty where runs have none, or several
};

Comparison comparison(const Results& results);

/// "learning_rate" for "training.learning_rate", unless another of the keys ends likewise.
std::string short_name(const std::string& key, const std::vector<std::string>& keys);

/// A parameter's value as a reader writes it: texts without quotes.
std::string value_text(const nlohmann::ordered_json& value);

/// "workers=8, latency=50us"; empty without a grid.
std::string point_text(const nlohmann::ordered_json& parameters);

/// `total` cells in the proportions of the parts, by largest remainder: they add up to `total`, or to nothing where the
/// parts do.  Of equal remainders the first part gets the cell.
std::array<int, 4> apportioned(const std::array<double, 4>& parts, int total);

/// The row that reached the target first, of those that reached it with every seed; null if none did.
const Row* fastest(const Comparison& comparison);
/// The one that reached it for the least money, likewise.
const Row* cheapest(const Comparison& comparison);

}  // namespace simgrad::outputs

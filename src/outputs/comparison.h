/// The comparison of the results: a row per (grid point, label), with means over the seeds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "outputs/results.h"
#include "outputs/seed_means.h"

namespace simgrad::outputs {

/// The numbers of one seed's run by which strategies are compared. Samples are those that the final state has seen.
struct SeedNumbers {
  std::uint64_t seed = 1;
  std::optional<double> time_to_target_s;
  std::optional<double> simulated_s;
  std::optional<double> s_per_sample;  ///< simulated
  std::optional<double> cost_to_target_usd;
  std::optional<double> cost_usd;
  std::optional<double> usd_per_sample;
  std::optional<double> energy_j;  ///< a run that reaches its target ends there
  std::optional<double> j_per_sample;
};

struct Row {
  std::string label;
  nlohmann::ordered_json parameters;
  std::int64_t workers = 1;

  // Numbers of runs; there is one run per seed.
  std::int64_t seeds = 0;
  std::int64_t reached = 0;
  std::int64_t diverged = 0;
  std::int64_t failed = 0;

  // Means over the runs that have the number and neither failed nor diverged, or over the diverged ones if all others
  // failed; nothing if none has the number.
  std::optional<double> simulated_s;
  std::optional<double> time_to_target_s;
  std::optional<double> time_to_target_margin_s;  ///< half of the 95 % interval of the mean; needs two seeds
  std::optional<double> speedup_throughput;       ///< of mean times, as the two below: seed_means.h
  std::optional<double> speedup_time_to_target;
  std::optional<double> efficiency;
  std::optional<double> samples_per_s;  ///< of the samples that the final state has seen
  std::optional<double> tokens_per_s;   ///< these two of runs on devices alone; or of answers
  std::optional<double> mfu;
  std::optional<double> memory_bytes;  ///< the largest peak of a rank, where a rank's memory has a limit
  // Only for runs that answer requests: times to the first token, times per token after it, dollars per million tokens.
  std::optional<double> ttft_s_median, ttft_s_p99, tpot_s_median, tpot_s_p99, dollars_per_million_tokens;
  bool idle_baseline = false;      ///< the baseline takes next to no time, so there are no speed-ups
  bool too_large_for_one = false;  ///< one worker, the baseline, would not fit into the memory of its device
  std::optional<double> cost_usd;
  std::optional<double> cost_to_target_usd;
  std::optional<double> energy_j;
  std::optional<double> bytes;
  std::optional<double> messages;
  std::optional<double> final_loss;
  std::optional<double> final_metric;
  std::optional<std::array<double, 4>> parts_s;  ///< compute, communicate, wait, down
  bool reads_storage = false;  ///< a storage takes at least half of the time that is spent communicating
  std::optional<double> steps;
  std::optional<double> samples;       ///< computed
  std::optional<double> samples_seen;  ///< in the final state
  std::optional<double>
      levelled_off;  ///< the loss, if it has changed by less than 1 % in the last quarter of the steps

  std::vector<SeedNumbers> by_seed;  ///< of the runs that the means are over

  bool all_reached() const { return reached == seeds; }
  bool sound() const { return failed == 0 && diverged == 0; }
};

struct Comparison {
  std::vector<Row> rows;                ///< grid points in the order of their first runs, labels likewise
  std::vector<Row> baselines;           ///< those of older releases, which cannot be told apart, are left out
  std::vector<std::string> parameters;  ///< the grid's keys, in the order of first use
  bool has_target = false;
  bool speed_by_chance = false;  ///< the seed decides times per sample, too: conditions.h
  std::optional<double> target;  ///< the loss, if it is the same for all runs
  std::string metric_name;       ///< empty if runs have none or several
};

Comparison comparison(const Results& results);

/// Returns " (which would not fit into memory)", in the report's language, behind words about one worker; empty where
/// it fits, or where that is not known.
std::string would_not_fit(const Row& row);

/// Returns whether a grid point has all of these values.
bool has_all(const nlohmann::ordered_json& point, const nlohmann::ordered_json& values);

/// Returns "learning_rate" for "training.learning_rate", unless another of the keys has the same last part.
std::string short_name(const std::string& key, const std::vector<std::string>& keys);

/// Returns a parameter's value; texts are without quotes.
std::string value_text(const nlohmann::ordered_json& value);

/// Returns "workers=8, latency=50us". Empty without a grid.
std::string point_text(const nlohmann::ordered_json& parameters);

/// Divides `total` cells in the proportions of the parts, by largest remainder; of equal remainders the first gets the
/// cell. The cells add up to `total`, or to 0 if the parts add up to 0.
std::array<int, 4> apportioned(const std::array<double, 4>& parts, int total);

/// Returns the runs by row: grid points in the order of their first run, labels likewise.
std::vector<Group> groups_of(const std::vector<Run>& runs);

/// Returns the runs that a row's numbers are about: those that neither failed nor diverged, or else the diverged ones.
Group sound_runs(const Group& runs);

}  // namespace simgrad::outputs

/// The model of a report: strategies and grid points by index, and a case for each pair of them that was run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "outputs/comparison.h"
#include "outputs/report/data/conditions.h"
#include "outputs/report/data/full_duplex_link.h"

namespace simgrad::outputs::report {

struct Strategy {
  std::string label;
  std::string kind;
};

struct Point {
  std::string text;  ///< "8 workers, latency=50us"; empty without a grid
  std::int64_t workers = 1;
  nlohmann::ordered_json parameters;
};

/// The link with the highest utilisation over the whole run, other traffic included.
struct BusiestLink {
  std::string name;
  double utilisation = 0.0;
  bool shared = false;  ///< also carries other traffic
};

/// One strategy at one grid point. Numbers are means over the seeds that did not fail and have the number.
struct Case {
  std::size_t strategy = 0;
  std::size_t point = 0;
  std::int64_t workers = 1;
  Row row;
  std::vector<const Run*> runs;   ///< one per seed, without those that failed
  std::optional<double> samples;  ///< that the final state has seen
  std::optional<double> steps;
  std::optional<double> staleness;           ///< mean age of the gradients applied, in updates
  std::optional<double> consensus_distance;  ///< at the last evaluation
  std::optional<double> spectral_gap;
  std::optional<double> crashes;
  std::optional<double> recovery_s;
  std::optional<double> lost_s;
  std::optional<double> checkpoint_s;
  std::optional<double> interference;  ///< for a job: time beside the other jobs over time alone
  std::optional<double>
      slowest_over_mean;  ///< largest computing time of a worker over the mean; nothing with one worker
  std::optional<double> slowest_excess_s;  ///< largest computing time of a worker less the mean
  std::optional<double>
      skew_s;  ///< sum over all calls of collectives: arrival of the last member less the mean arrival
  std::optional<double> skew_a_call_s;  ///< skew_s per call
  std::optional<BusiestLink> busiest;
  std::optional<FullDuplexLink>
      duplex_link;  ///< the busiest one: names of the first run, utilisations as means over the seeds
  double duplex_link_over_mean = 1.0;  ///< its load, both directions, over the mean of all full-duplex links
  Conditions conditions;
  const Counterfactual* counterfactual = nullptr;  ///< of one of the runs; null where nothing was tried

  bool ran() const { return !runs.empty(); }
};

struct ReportModel {
  std::vector<Strategy> strategies;
  std::vector<Point> points;
  std::vector<Case> cases;  ///< points in the order of their first run, strategies likewise
  Comparison comparison;    ///< its rows are in the order of the cases
  bool has_cost = false;
  bool has_energy = false;

  const std::string& label(const Case& one) const { return strategies[one.strategy].label; }
  const std::string& text(const Case& one) const { return points[one.point].text; }
  /// Returns "ring with 8 workers at latency=50us"; without the grid point if there is only one.
  std::string named(const Case& one) const;
  std::vector<const Case*> ran() const;  ///< cases with a run that did not fail
};

/// Builds the model. It refers to the results, which must outlive it.
ReportModel report_model(const Results& results);

/// Returns the mean of a number over the runs that have it; nothing if none has.
template <class Number>
std::optional<double> mean_of(const std::vector<const Run*>& runs, Number number) {
  double sum = 0.0;
  int n = 0;
  for (const Run* run : runs) {
    const std::optional<double> x = number(*run);
    if (!x || !(*x - *x == 0.0)) continue;  // finite ones only
    sum += *x;
    ++n;
  }
  return n > 0 ? std::optional(sum / n) : std::nullopt;
}

}  // namespace simgrad::outputs::report

/// The answers to a scenario's section [capacity]: the fleet with each number of spares, and one long training with
/// each of them under each rule of checkpoints, over the seeds.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "capacity/fleet.h"
#include "capacity/workload.h"
#include "experiment/plan/plan.h"

namespace simgrad::capacity {

/// The fleet with one number of spares.
struct WithSpares {
  int spares = 0;
  std::vector<FleetOutcome> of_seed;  ///< all numbers of spares see the same failures and arrivals
};

/// The long training with one number of spares under one rule of checkpoints.
struct WithRule {
  int spares = 0;
  std::string rule;                   ///< "daly", "young", or a time
  double interval_s = 0.0;            ///< work between two checkpoints
  std::vector<FleetOutcome> of_seed;  ///< all rules see the same failures
};

struct Study {
  std::string scenario;             ///< its name
  nlohmann::ordered_json resolved;  ///< the section with its defaults
  experiment::CapacitySection capacity;
  Checkpoints checkpoints;  ///< of the scenario's training, by the number of hosts; empty: those of the section
  std::optional<double> price_usd_per_h;  ///< of one server: of the scenario's workers, by class
  std::optional<double> mtbf_s;           ///< of one server
  std::vector<std::uint64_t> seeds;
  std::map<int, Step> steps;        ///< simulated ones, by the number of hosts
  std::vector<Work> work;           ///< of each seed; empty without jobs
  std::vector<WithSpares> fleet;    ///< likewise
  std::optional<Job> undisturbed;   ///< the long training without checkpoints, if there is one
  std::vector<WithRule> trainings;  ///< spares by spares, Daly's rule first; empty without one
};

/// plan: of one run, whose settings have the section.  seeds: of failures and arrivals.  jobs, threads: for the
/// simulated steps.  Errors: ScenarioError, EnvironmentError.
Study study(const experiment::Plan& plan, const std::vector<std::uint64_t>& seeds, int jobs, int threads);

/// The value that a share q of the numbers does not exceed, linear between two of them; NaN without numbers.
/// Source: R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996,
/// definition 7.
double quantile(std::vector<double> numbers, double q);

/// The time from arrival to start of each job; of one that has not started, until the end.
std::vector<double> waits_s(const Work& work, const FleetOutcome& outcome);

/// The price of all servers for one server-hour of useful computing; none without prices, infinite without useful time.
std::optional<double> usd_per_useful_host_hour(const HostTime& time, const std::optional<double>& price_usd_per_h);

}  // namespace simgrad::capacity

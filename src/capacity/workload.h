/// The jobs of a scenario's section [capacity], as the fleet's simulation takes them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capacity/fleet.h"
#include "capacity/step_times.h"
#include "experiment/plan/capacity_section.h"

namespace simgrad::capacity {

/// Work as a time, and the step that it consists of.
struct Amount {
  double work_s = 0.0;
  double step_s = 0.0;  ///< 0: any time may pass between two checkpoints
};

/// Numbers of hosts whose steps have to be simulated, ascending.
std::vector<int> hosts_to_simulate(const experiment::CapacitySection& capacity);

/// The size of a job on so many hosts.  steps: of all numbers in hosts_to_simulate().
/// Errors: ScenarioError for tokens of samples that are no text.
Amount amount_of(const experiment::JobSize& size, int hosts, const std::map<int, Step>& steps);

/// The mean time between failures of one server; none if there are no failures.
std::optional<double> mtbf_s(const experiment::CapacitySection& capacity);

/// Work between two checkpoints of a job on so many hosts, in whole steps of it, rounded up. Infinite without a rule.
/// rule: a time, "young", "daly", or nothing.  The job's MTBF is that of one server / hosts.  checkpoint: of the
/// job; none: that of the section.
double interval_s(const std::optional<std::string>& rule, int hosts, double step_s,
                  const experiment::CapacitySection& capacity, const std::optional<CheckpointTimes>& checkpoint = {});

/// The interval of a job whose MTBF is known: none without failures, and then no checkpoints by Young or Daly. Theirs
/// are at least as long as a checkpoint is written behind the work, for which the next one would have to wait.
double interval_of_rule_s(const std::optional<std::string>& rule, const std::optional<double>& job_mtbf_s,
                          const CheckpointTimes& checkpoint, double step_s);

/// Checkpoints of jobs on so many hosts; a number that is not there has those of the section.
using Checkpoints = std::map<int, CheckpointTimes>;

/// Numbers of hosts of jobs that write checkpoints, ascending.
std::vector<int> hosts_with_checkpoints(const experiment::CapacitySection& capacity);

/// A job with the list that it is from.
struct Work {
  std::vector<Job> jobs;           ///< in the order of arrival
  std::vector<std::string> names;  ///< of each
};

/// The jobs of [[capacity.job]], and those that arrive by [[capacity.arrivals]] until the horizon. Arrivals depend on
/// the seed alone.  Errors: as of amount_of; ScenarioError for more than 1,000,000 arrivals.
Work workload(const experiment::CapacitySection& capacity, const std::map<int, Step>& steps, std::uint64_t seed,
              const Checkpoints& checkpoints = {});

/// The one long training, under a rule as of interval_s.
Job training_job(const experiment::CapacitySection& capacity, const std::map<int, Step>& steps,
                 const std::optional<std::string>& rule, const Checkpoints& checkpoints = {});

}  // namespace simgrad::capacity

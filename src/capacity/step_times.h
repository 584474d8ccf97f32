/// Steps of the scenario's training on so many servers, by timing-only runs.
#pragma once

#include <map>
#include <vector>

#include "capacity/computing.h"
#include "experiment/plan/plan.h"

namespace simgrad::capacity {

/// One step of the training.
struct Step {
  double duration_s = 0.0;  ///< virtual
  double samples = 0.0;
  double tokens = 0.0;  ///< 0 where samples are not text
};

/// Whether the time of a checkpoint is that of the scenario's training.
bool simulates_checkpoints(const experiment::Settings& settings);

/// Plans all trainings that the section needs, and simulates none of them.  plan: of one run.
/// Errors: ScenarioError for a number of workers that the scenario refuses.
void check_trainings(const experiment::Plan& plan);

/// A checkpoint of the scenario's training on each number of hosts, from two timing-only runs, with and without
/// checkpoints: the largest part of the state over cluster.storage_bandwidth. Under training.checkpoint_async it holds
/// the training up for the same bytes over cluster.host_memory_bandwidth.  Errors: as simulated_steps().
std::map<int, CheckpointTimes> simulated_checkpoints(const experiment::Plan& plan, const std::vector<int>& hosts,
                                                     int jobs, int threads);

/// A checkpoint whose writing takes so long: under training.checkpoint_async it holds the training up for its copying
/// alone.
CheckpointTimes times_of_checkpoint(double write_s, const experiment::Settings& settings);

/// The scenario's training with the workers of so many servers, for each number of hosts: the mean over
/// capacity.simulated_steps steps, without failures and checkpoints.
///
/// plan: of one run.  jobs, threads: as experiment::RunnerOptions has them.
/// Errors: ScenarioError for a number of workers that the scenario refuses, or whose run fails; EnvironmentError after
/// an interrupt.
std::map<int, Step> simulated_steps(const experiment::Plan& plan, const std::vector<int>& hosts, int jobs, int threads);

}  // namespace simgrad::capacity

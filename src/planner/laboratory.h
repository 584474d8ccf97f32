/// The simulations of a plan: done in child processes within a time, and kept for the next command.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/data_cache.h"
#include "planner/outcome.h"
#include "planner/simulation_log.h"

namespace simgrad::planner {

/// The work of simulations.
struct Effort {
  std::int64_t runs = 0;
  double worker_steps = 0.0;  ///< steps times workers, over all runs
  double real_s = 0.0;        ///< of the simulating processes, added up
  std::int64_t kept = 0;      ///< those of the runs that an earlier command has left
};

/// Runs the plan's simulations. Their outcomes are in simulations.jsonl in the results directory (simulation_log.h).
class Laboratory {
 public:
  /// out: the results directory, which exists.  real_s: for all simulations.  jobs, threads: as for run_plan.
  /// again: whether simulations of earlier commands count for nothing.
  /// Errors: EnvironmentError for a file that cannot be read or written.
  Laboratory(const std::string& out, double real_s, int jobs, int threads, bool again);

  /// Simulates what is not known, each work once. Returns whether all are known then: not if the time is up, or if the
  /// user has interrupted.  tick: called now and then.
  bool simulate(const std::vector<const experiment::RunPlan*>& runs, const std::function<void()>& tick = {});
  /// The outcome of a run; null if it is not known. From now on it is part of the effort.
  const Outcome* find(const experiment::RunPlan& run);

  /// The effort of the simulations that this plan follows from, those of earlier commands included.
  const Effort& effort() const { return effort_; }
  /// The time of a candidate among failures by the fleet's simulation, over that of the closed form; 1: they agree, or
  /// it is not simulated.  candidate: its index among all.
  double correction(std::size_t candidate, int spares) const {
    const auto found = corrections_.find({candidate, spares});
    return found == corrections_.end() ? 1.0 : found->second;
  }
  void correct(std::size_t candidate, int spares, double factor) { corrections_[{candidate, spares}] = factor; }

  double left_s() const;
  bool over() const;

 private:
  void add(const experiment::RunPlan& run, Outcome outcome);

  SimulationLog log_;
  std::map<std::string, Outcome> outcomes_;
  std::set<std::string> kept_;  ///< ids of simulations that an earlier command has left
  std::set<std::string> counted_;
  Effort effort_;
  std::map<std::pair<std::size_t, int>, double> corrections_;
  experiment::DataCache data_cache_;
  int jobs_, threads_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace simgrad::planner

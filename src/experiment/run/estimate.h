/// The time and the disk space that an experiment will take, from short trials of some of its runs.
#pragma once

#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

struct Estimate {
  int runs = 0;              ///< to simulate: runs that do the same work count once, baselines too
  int finished = 0;          ///< those whose records are there already; they are not among `runs`
  double wall_s = 0;         ///< real time of all
  double longest_s = 0;      ///< real time of the longest run
  double bytes = 0;          ///< files of the results, the report aside
  double run_bytes = 0;      ///< memory: of the largest process that tried a run, up to its end
  bool at_least = false;     ///< runs were tried that did not make a step
  bool at_most = false;      ///< a target loss may end runs earlier
  std::string unknown = {};  ///< the reason why time and bytes could not be estimated, or empty
};

/// Begins one run of each kind (a strategy at a grid point), gives each a part of `budget_s`, and extrapolates from
/// the processor time of its steps, the first one and the start of the process aside. Numbers that runs share count
/// once. Writes nothing. Data files of more than 64 MiB are not read, and then nothing is estimated.
/// jobs, threads, share_numbers: as for run_plan.  out: a results directory, whose finished runs are not done again;
/// empty: all runs are done.
/// Errors: ScenarioError for data that do not suit, EnvironmentError.
Estimate estimate(const Plan& plan, int jobs, int threads, double budget_s, const std::string& out, bool share_numbers);

/// The estimate of several experiments, one after the other.
Estimate sum(const std::vector<Estimate>& estimates);

/// "3 runs to simulate: about 5 min of real time, and 12 MB of files beside the report; 2 more are finished".
std::string text(const Estimate& estimate);

}  // namespace simgrad::experiment

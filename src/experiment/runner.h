/// Runs a plan: one child process a run, some at a time.
#pragma once

#include <functional>
#include <string>

#include "experiment/plan.h"
#include "experiment/recordings.h"
#include "outputs/results.h"

namespace simgrad::experiment {

struct RunnerOptions {
  std::string out;             ///< the directory of the results
  int jobs = 0;                ///< runs at a time; 0: all cores
  int threads = -1;            ///< for the numbers of one run; -1: cores / jobs
  Recordings recordings = {};  ///< of the plan's runs, not of baselines
  /// Told of each file that cannot be written once something has been simulated. Without it the first one is an error,
  /// after all else is written.
  std::function<void(const std::string& fault)> unwritten = {};
  /// Told every now and then: how many runs are done, of how many, and the share of the whole done, 0 .. 1.
  std::function<void(int done, int all, double share)> progress;
};

/// Runs everything, writes a file a run as it finishes and all results at the end. With an interrupt (SIGINT, SIGTERM)
/// the children end, what is finished stays, and the results are not complete.
/// Errors: ScenarioError for data that do not suit, before anything is simulated; EnvironmentError, for
/// a place that cannot be written to before anything is simulated, too.
outputs::Results run_plan(const Plan& plan, const RunnerOptions& options);

/// Speed-ups of every run against its baseline.
void compare_with_baselines(const Plan& plan, outputs::Results& results);

}  // namespace simgrad::experiment

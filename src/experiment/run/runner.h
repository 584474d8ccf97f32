/// Runs a plan: one child process a run, some at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "experiment/plan/plan.h"
#include "experiment/run/recordings.h"
#include "outputs/results.h"

namespace simgrad::experiment {

struct RunnerOptions {
  std::string out;             ///< the directory of the results
  int jobs = 0;                ///< runs at a time; 0: all cores
  int threads = -1;            ///< for the numbers of one run; -1: cores / jobs
  Recordings recordings = {};  ///< concern the plan's runs, not baselines
  /// Called for each file that cannot be written after a simulation. Without this function the first such file is an
  /// error, raised after all other files are written.
  std::function<void(const std::string& fault)> unwritten = {};
  /// Called from time to time with the number of runs done, the number of all, and the share of the whole, 0 .. 1.
  std::function<void(int done, int all, double share)> progress;
};

/// Reads the data files of a plan, and checks that they are well-formed and that models and strategies suit them.
/// Data of more than `most_bytes` are left for the run.
/// Errors: ScenarioError, EnvironmentError for a file that cannot be read.
void check_files(const Plan& plan, std::uintmax_t most_bytes);

/// Runs everything. Writes the file of each run as soon as it and the runs it is compared with are finished, and all
/// results at the end. At an interrupt (SIGINT, SIGTERM, SIGHUP) the children end, finished runs stay, and the results
/// are not complete.  Errors: ScenarioError for data that do not suit, EnvironmentError for a directory that cannot be
/// written to, both before anything is simulated.
outputs::Results run_plan(const Plan& plan, const RunnerOptions& options);

}  // namespace simgrad::experiment

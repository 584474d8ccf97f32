/// Runs a plan: one child process a run, some at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/child_limits.h"
#include "experiment/run/origin.h"
#include "experiment/run/recordings.h"
#include "experiment/run/results_directory.h"
#include "experiment/run/shards.h"
#include "outputs/results.h"

namespace simgrad::experiment {

/// How far an experiment is.
struct Advance {
  struct Running {
    std::string name;        ///< "allreduce, workers=8, seed 1"
    double share = 0.0;      ///< of the run, 0 .. 1
    double elapsed_s = 0.0;  ///< real time since its start
  };
  int done = 0;                       ///< pieces of work: runs that do the same work count once, baselines too
  int all = 0;                        ///< likewise
  int failed = 0;                     ///< of those done
  double share = 0.0;                 ///< of the work, 0 .. 1, never less than before
  std::optional<double> left_s = {};  ///< the real time still to go, once that can be estimated
  std::vector<Running> running = {};
  std::string best = {};  ///< of the plan's runs that are done: "allreduce, seed 1: 12.3 s to the target", or empty
};

struct RunnerOptions {
  std::string out;               ///< the directory of the results
  int jobs = 0;                  ///< runs at a time; 0: all cores
  int threads = -1;              ///< for the numbers of one run; -1: cores / jobs
  bool again = false;            ///< also simulates runs whose records are in the directory, and replaces what it has
  bool counterfactuals = false;  ///< also tries what would make the runs faster
  bool race = false;             ///< drops strategies that are clearly behind at a grid point
  bool share_numbers = true;     ///< computes numbers that several runs have in common once
  ChildLimits limits = {};       ///< a run that exceeds one has failed
  Recordings recordings = {};    ///< concern the plan's runs, not baselines
  /// Called for each file that cannot be written after a simulation. Without this function the first such file is an
  /// error, raised after all other files are written.
  std::function<void(const std::string& fault)> unwritten = {};
  /// Asked from time to time. If not, runs under way are ended, and the results are not complete.
  std::function<bool()> goes_on = {};
  /// Called from time to time.
  std::function<void(const Advance& advance)> progress = {};
  /// Called with remarks for the user: on the data, and on what makes a run slow.
  std::function<void(const std::string& text)> tell = {};
};

/// The number of runs at a time and the threads for the numbers of one, out of those asked for (jobs 0, threads -1: by
/// the machine's cores).
std::pair<int, int> jobs_and_threads(int jobs, int threads, std::size_t runs);

/// Reads the data files of a plan, and checks that they are well-formed and that models and strategies suit them.
/// Data of more than `most_bytes` are left for the run.
/// Errors: ScenarioError, EnvironmentError for a file that cannot be read.
/// tell: called for each remark about the data.
void check_files(const Plan& plan, std::uintmax_t most_bytes,
                 const std::function<void(const std::string& note)>& tell = {});

/// Runs what is missing: a run whose record is in the directory is taken from there. Writes the record of each run as
/// soon as it is finished, again when the runs that it is compared with are, and all results at the end. Waits for
/// another process that writes to the directory. At an interrupt (SIGINT, SIGTERM, SIGHUP) the children end, finished
/// runs stay, and the results are not complete.  Errors: ScenarioError for data that do not suit, and for a directory
/// with the results of another experiment that cannot be kept; EnvironmentError for a directory that cannot be written
/// to, both before anything is simulated.
outputs::Results run_plan(const Plan& plan, const RunnerOptions& options);
/// As above. The caller gets the directory besides, and keeps other commands out of it until it has written its own
/// files.
outputs::Results run_plan(const Plan& plan, const RunnerOptions& options,
                          std::unique_ptr<const ResultsDirectory>& directory);

/// The outcome of a shard.
struct ShardOutcome {
  std::size_t finished = 0;  ///< pieces of work
  std::size_t all = 0;       ///< likewise, of the shard
  std::vector<outputs::Run> failed = {};
};

/// Runs what is missing of a part of a plan, as run_plan does, and writes records and timelines alone. Counterfactuals
/// are left to `merge`.  options.out: the shard's directory.  Errors: as of run_plan.
ShardOutcome run_shard(const Plan& plan, const Shard& shard, const Origin& origin, const RunnerOptions& options);

}  // namespace simgrad::experiment

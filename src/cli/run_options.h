/// The options of `run`.
#pragma once

#include <string>
#include <vector>

#include "cli/emit.h"
#include "cli/selection.h"
#include "cli/tracing.h"
#include "experiment/run/child_limits.h"

namespace simgrad::cli {

struct RunOptions {
  std::vector<std::string> scenarios;
  Chosen chosen;  ///< the present one of them
  std::string out;
  int jobs = 0;
  int threads = -1;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool no_why = false;
  bool force = false;
  bool own_numbers = false;
  bool race = false;
  std::string run_time;
  std::string run_memory;
  bool sqlite = false;
  Tracing tracing;
  std::string shard;
  Emission emission;
};

void add_run_options(CLI::App& command, RunOptions& options);

/// The bounds on a run.  Errors: ScenarioError for a text that is no quantity above 0.
experiment::ChildLimits limits_of(const RunOptions& options);

/// The options that say how runs are done, not which: for the commands of shards.
std::vector<std::string> words_of_runs(const RunOptions& options);

}  // namespace simgrad::cli

/// The option --shard, and the environment that stands for it.
#pragma once

#include <optional>
#include <string>

#include "cli/cli.h"
#include "experiment/run/runner.h"

namespace simgrad::cli {

/// The part of the experiment that this process does; nothing: all of it.
///
/// The option decides; else SIMGRAD_SHARD; else SLURM_ARRAY_TASK_ID with SLURM_ARRAY_TASK_COUNT, _MIN, _MAX and _STEP;
/// else JOB_COMPLETION_INDEX with SIMGRAD_SHARDS. A shard that comes from the environment is said on stderr, unless
/// `quiet`.
/// option: "i/n", "all", or empty.  Errors: ScenarioError, also for an array job some of whose tasks are not there: its
/// parts cannot be told.
std::optional<experiment::Shard> chosen_shard(const std::string& option, bool quiet);

/// Runs the shard, and prints how much of it is finished and the command that merges.
/// out: the results directory, in which the shard has a directory of its own, to which it sets options.out.
Exit do_shard(const experiment::Plan& plan, const experiment::Shard& shard, const experiment::Origin& origin,
              const std::string& out, experiment::RunnerOptions options, bool quiet);

}  // namespace simgrad::cli

/// The shards of an experiment, made into the results of the whole.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/origin.h"
#include "experiment/run/results_directory.h"
#include "outputs/results.h"

namespace simgrad::experiment {

/// The shards in these directories, or in those of their sub-directories; one part may be there several times.
/// Errors: ScenarioError naming every directory that is no shard's, or a shard of another experiment with the
/// differences: of the scenario, the selection of runs, the version, the number of shards.
std::vector<ShardOfExperiment> shards_in(const std::vector<std::string>& directories);

/// The plan of which they are shards, made again from its files: as seen from the current directory, else from where
/// the shards were run. Errors: ScenarioError if these files plan other runs now; EnvironmentError for a file that
/// cannot be read. The caller sets the plan's command.
Plan plan_again(const std::vector<ShardOfExperiment>& shards);

struct MergeOptions {
  std::string out;               ///< the directory of the results
  int jobs = 0;                  ///< of counterfactuals, as for run_plan
  int threads = -1;              ///< likewise
  bool again = false;            ///< replaces the results of another experiment
  bool counterfactuals = false;  ///< also tries what would make the runs faster
  /// Called with remarks for the user.
  std::function<void(const std::string& text)> tell = {};
};

/// Writes the files that run_plan writes for the whole plan, with the shards' `wall_s`. Timelines,
/// trajectories, and records that comparisons across shards leave as they are get second names (hard links) where the
/// file system allows it, else they are copied. At an interrupt nothing is written. Errors:
/// ScenarioError naming the runs that are missing or damaged with the commands that do them, and runs that differ in
/// two directories, before anything is written; ScenarioError and EnvironmentError for `out`, as of run_plan.
/// The caller gets the directory, and keeps other commands out of it until it has written its own files.
outputs::Results merge(const Plan& plan, const std::vector<ShardOfExperiment>& shards, const MergeOptions& options,
                       std::unique_ptr<const ResultsDirectory>& directory);

}  // namespace simgrad::experiment

/// The records in the directories of shards, gathered by the plan's pieces of work.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/origin.h"
#include "experiment/run/run_store.h"
#include "outputs/results.h"

namespace simgrad::experiment {

struct ShardRecords {
  /// Every piece of work, as it was when its simulation ended, in the order of pieces_of_work.
  std::vector<std::pair<const RunPlan*, outputs::Run>> runs;
  std::set<const RunPlan*> in_table;                           ///< pieces that are runs of the plan themselves
  std::vector<std::pair<std::string, std::string>> timelines;  ///< of the plan's runs: stem, and the shard's directory
  std::vector<std::pair<std::string, std::string>> models;     ///< likewise
};

/// plan: with its command, which is told for shards whose runs are missing.  store: is offered the records.
/// Errors: ScenarioError naming damaged files, runs that are missing with the commands that do them (of many the
/// first few), and runs that differ in two directories.
ShardRecords records_of(const Plan& plan, const std::vector<ShardOfExperiment>& shards, RunStore& store);

}  // namespace simgrad::experiment

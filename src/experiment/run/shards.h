/// The parts of an experiment that several machines do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Part `index` of `count`.
struct Shard {
  int index = 1;  ///< 1 .. count
  int count = 1;

  bool operator==(const Shard&) const = default;
};

/// The most shards of an experiment.
inline constexpr int shards_most = 100'000;

/// "3/8".  name: the option or the variable that has the text, for errors.  Errors: ScenarioError.
Shard parse_shard(const std::string& text, const std::string& name);
/// "3/8".
std::string text(const Shard& shard);
/// The directory of a shard's records: <out>/shard-3-of-8.
std::string shard_directory(const std::string& out, const Shard& shard);
/// Whether a directory is called as that of a shard.
bool is_shard_directory(const std::string& directory);

/// The pieces of work of a plan, each once: baselines, jobs by themselves, runs.
std::vector<const RunPlan*> pieces_of_work(const Plan& plan);

/// Deals pieces of work to shards: the longest first, each to the shard that has the least work so far. Every shard
/// that deals the pieces of an equal plan gets an equal answer. The pieces of a shard keep their order.
std::vector<std::vector<const RunPlan*>> dealt(const std::vector<const RunPlan*>& pieces, int shards);

}  // namespace simgrad::experiment

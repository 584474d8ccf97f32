/// Where a shard's plan comes from, so that the shards can be merged under the same plan.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiment/plan/plan.h"
#include "experiment/run/shards.h"

namespace simgrad::experiment {

/// All that planning an experiment again takes, besides its files.
struct Origin {
  std::string file;  ///< the scenario, as the command line names it
  Selection selection;
};

/// A hash of the plan's runs and baselines in their order: equal plans have the same.
std::string fingerprint(const Plan& plan);

/// The member `shard` of a shard's experiment.json.  out: the shard's directory.
nlohmann::ordered_json as_json(const Origin& origin, const Shard& shard, const Plan& plan, const std::string& out);

/// A shard as its experiment.json tells it.
struct ShardOfExperiment {
  std::string out;  ///< its directory
  Shard shard;
  Origin origin;
  std::string directory;              ///< in which the scenario's path holds, as seen from here
  std::string plan;                   ///< its fingerprint
  nlohmann::ordered_json experiment;  ///< all that shards of one experiment agree in, for differences
};

/// Errors: ScenarioError for a directory that is no shard's.
ShardOfExperiment shard_in(const std::string& out);

/// The part that a directory has; nothing if it is no shard's.
std::optional<Shard> shard_at(const std::string& out);

}  // namespace simgrad::experiment

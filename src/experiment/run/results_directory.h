/// The results directory of an experiment: one command at a time writes to it, and it has one experiment's results.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/directory_lock.h"
#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Held by a command as long as it writes to the directory.
///
/// experiment.json says whose results these are: the resolved scenario, and the number of the numerics. Another grid,
/// other seeds or strategies are the same experiment, whose finished runs count; any other difference is another one.
/// A shard's experiment.json has the additional member `shard`.
class ResultsDirectory {
 public:
  /// Makes the directory and its folder `runs`, waits for another command that writes to it, and removes temporary
  /// files that a killed one has left. Writes experiment.json. Where the directory has the results of another
  /// experiment, such as an earlier version of the scenario, their files are moved out of it first, those of out/mine
  /// to out/mine.1, or to the next number that is free, and standard error says so. shard: experiment.json's member of
  /// that name; null: none. replace: results of another experiment are removed, and not kept.  tell: called before
  /// waiting. Errors: ScenarioError naming the differences if the directory has another experiment's results that
  /// cannot be moved, or is a shard's, which other shards belong to; EnvironmentError, also, before anything is
  /// written, for a link in the place of one of its folders.
  ResultsDirectory(const std::string& out, const Plan& plan, const nlohmann::ordered_json& shard, bool replace,
                   const std::function<void(const std::string& text)>& tell);

 private:
  base::DirectoryLock lock_;
};

/// Whose results a directory has, by its experiment.json; null without that file.  Errors: EnvironmentError for a file
/// that cannot be read or is not JSON.
nlohmann::ordered_json experiment_in(const std::string& out);

}  // namespace simgrad::experiment

/// The results directory of an experiment: one command at a time writes to it, and it has one experiment's results.
#pragma once

#include <functional>
#include <string>

#include "base/directory_lock.h"
#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Held by a command as long as it writes to the directory.
///
/// experiment.json says whose results these are: the resolved scenario, and the number of the numerics. Another grid,
/// other seeds or strategies are the same experiment, whose finished runs count; any other difference is another one.
class ResultsDirectory {
 public:
  /// Makes the directory and its folder `runs`, waits for another command that writes to it, and removes temporary
  /// files that a killed one has left. Writes experiment.json.
  /// replace: whether results of another experiment may be replaced.  tell: called before waiting.
  /// Errors: ScenarioError naming the differences if the directory has another experiment's results; EnvironmentError.
  ResultsDirectory(const std::string& out, const Plan& plan, bool replace,
                   const std::function<void(const std::string& text)>& tell);

 private:
  base::DirectoryLock lock_;
};

}  // namespace simgrad::experiment

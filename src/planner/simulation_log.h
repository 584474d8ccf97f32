/// simulations.jsonl: the simulations of a plan, kept in the results directory for the next command.
#pragma once

#include <map>
#include <string>

#include "base/files.h"
#include "planner/outcome.h"

namespace simgrad::planner {

/// A line for each simulation, {"id", "outcome", "checksum"}, written as it ends. The results directory must be held.
class SimulationLog {
 public:
  /// out: the results directory, which exists. Follows no link, and waits for no pipe: such a thing is replaced. A
  /// file that has another name elsewhere (a backup's, say) is read, and replaced by a new one.
  /// Errors of all members: EnvironmentError for a file that cannot be read or written.
  explicit SimulationLog(const std::string& out);

  /// The outcomes by their ids. The last line counts as none if it is not whole, as a killed command leaves it; so does
  /// every line without the right checksum or with numbers that no simulation has, and then a message tells how many.
  std::map<std::string, Outcome> read() const;
  void clear() const;
  void add(const std::string& id, const Outcome& outcome) const;

 private:
  void cut(std::uintmax_t size) const;

  std::string file_;
  std::string before_;  ///< the contents of an earlier command's file
  base::OpenFile open_;
};

}  // namespace simgrad::planner

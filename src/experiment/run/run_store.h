/// The records of finished runs in a results directory, by the runs' ids: what a repeated command need not do again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "outputs/results.h"

namespace simgrad::experiment {

/// runs/ID.json is the run's object in results.json, and `checksum` as the last member: of all fields but wall_s. The
/// file is written under a temporary name and renamed, so that it is whole or not there.
class RunStore {
 public:
  /// out: the results directory.  tell: called for each damaged record.
  RunStore(const std::string& out, std::function<void(const std::string& text)> tell);

  /// Returns the record of a run, if it is there and sound. A damaged one is renamed to ID.json.damaged and told, and a
  /// record of a failed run counts as none: its reason may have been the machine.
  std::optional<outputs::Run> take(const std::string& id);
  /// Writes the record, unless it is there with the same contents.  Errors: EnvironmentError.
  void put(const outputs::Run& run);

 private:
  std::string path(const std::string& id) const;
  void set_aside(const std::string& id, const std::string& fault);

  std::string folder_;
  std::function<void(const std::string& text)> tell_;
  std::map<std::string, std::string> checksums_;  ///< of the records that are there, by id
};

}  // namespace simgrad::experiment

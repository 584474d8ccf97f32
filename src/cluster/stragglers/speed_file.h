/// Speeds of hosts in a file, in SimGrid's profile format or as CSV.
///
/// SimGrid's: lines "date factor", comments after #, and one line "PERIODICITY seconds" (the whole is repeated with
/// that period) or "LOOPAFTER seconds" (it begins again that long after its last date). CSV: a header line with date,
/// factor and perhaps rank; lines without a rank hold for all hosts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/stragglers/stragglers.h"

namespace simgrad::cluster {

struct SpeedFile {
  std::vector<SpeedChange> all;  ///< for hosts that are not named
  std::map<int, std::vector<SpeedChange>> by_rank;
  std::optional<double> period_s;  ///< the changes come again after that; none: once

  /// The changes of that rank's host; null where the file has none.
  std::unique_ptr<SpeedChanges> of_rank(std::optional<int> worker) const;
};

/// Errors: EnvironmentError for a file that cannot be opened; ScenarioError `file:line: ...` for a fault in its
/// contents.
SpeedFile read_speed_file(const std::string& file);

}  // namespace simgrad::cluster

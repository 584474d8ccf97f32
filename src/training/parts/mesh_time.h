/// Where the time of a rank of a mesh goes, as it is counted while the training runs.
#pragma once

#include <optional>

#include "record/record.h"

namespace simgrad::training {

/// The strategy does not name the ranks that it communicates with. Its time among the ranks that it sums over
/// is therefore all communication, sums and waiting until the rank's work has ended, without `elsewhere`.
struct MeshTime {
  record::MeshUse use = {};                      ///< without data_s
  record::TimeParts elsewhere = {};              ///< among other ranks of the replica, and idle after an earlier end
  std::optional<record::TimeParts> at_end = {};  ///< the rank's time when its work ended; null where it was cut

  /// The rank's work has ended, or begins anew after a failure.  now: the rank's time until then.
  void end(const record::TimeParts& now) { at_end = now; }
  void start_again(const record::TimeParts& now);
  /// Seconds of the strategy.  all: of the rank until the end of the run.
  double data_s(const record::TimeParts& all) const;
};

}  // namespace simgrad::training

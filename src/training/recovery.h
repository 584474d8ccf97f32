/// The one recovery driver: crashes the hosts that the scenario names, and gets the training going again.
#pragma once

#include <utility>
#include <vector>

#include "cluster/failures/failures.h"

namespace simgrad::training {

class Training;

/// After a crash and the detection time every rank's communicator is revoked: the actors of the old generation end, a
/// partial collective with them. Then either all wait for the repair and the same ranks go on (restart), or the living
/// ones go on at once (shrink), in a new generation, from the last checkpoint that every rank reached.
class Recovery {
 public:
  Recovery(Training& training, const cluster::FailureOptions& options);
  void schedule_crashes();
  /// Whether the ranks are between a crash and the next generation: nothing moves, and that is no deadlock.
  bool pending() const { return pending_; }

 private:
  void crash(const cluster::Crash& crash);
  void revoke();
  void revive_repaired();
  void resume();

  Training& training_;
  cluster::FailureOptions options_;
  std::vector<std::pair<double, int>> repairs_;  ///< when which rank's host is back
  double resume_s_ = 0.0;  ///< not before: the latest repair
  bool pending_ = false;   ///< a recovery is under way
};

}  // namespace simgrad::training

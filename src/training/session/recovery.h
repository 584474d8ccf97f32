/// The one recovery driver: crashes hosts, and gets the training going again.
#pragma once

#include <optional>
#include <vector>

#include "training/session/training.h"

namespace simgrad::training {

/// One rank of each host that the hosts' failure process has fail.
std::vector<int> ranks_that_fail(const cluster::Cluster& cluster, const cluster::World& world);

/// After a crash and the detection time every rank's communicator is revoked: the actors of the old generation end, a
/// partial collective with them. Then a new generation starts: once all are repaired (restart, wait), or at once with
/// those that live (shrink, elastic; again with everyone who comes back under elastic). Servers that hold a shard which
/// nobody else has are waited for, where they come back. Under `continue` workers come and go within a generation.
class Recovery {
 public:
  explicit Recovery(Training& training);
  /// Those that the scenario names, and those of the hosts' failure process.
  void schedule_crashes();
  /// Whether the ranks are between a crash and the next generation: nothing moves, and that is no deadlock.
  bool pending() const { return pending_ || (training_.keeps_going() && expects()); }
  /// Whether a host is still to come back.
  bool expects() const { return !repairs_.empty(); }

 private:
  void crash(int rank, std::optional<double> repair_s);
  void crash_in_place(int rank);
  void schedule_next(int rank, std::int64_t count, double up_since_s);
  bool hopeless();
  /// The training has ended, or the run has failed.
  bool over() const;
  void revoke();
  void come_back();
  bool revive_repaired();
  bool ready() const;
  std::optional<int> lost_for_good() const;
  void resume();

  struct Repair {
    double back_s = 0.0;
    int rank = 0;  ///< one of the host's
  };

  Training& training_;
  std::vector<Repair> repairs_;  ///< to come
  std::int64_t best_step_ = 0;   ///< that was ever complete
  int crashes_since_ = 0;        ///< since then
  bool pending_ = false;         ///< a recovery is under way
  bool revoked_ = false;         ///< the actors of the old generation have ended
};

}  // namespace simgrad::training

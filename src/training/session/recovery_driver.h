/// The recovery driver: crashes hosts, and gets the training going again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/failures/failures.h"
#include "training/session/spares.h"

namespace simgrad::cluster {
class Cluster;
class World;
}  // namespace simgrad::cluster

namespace simgrad::training {

class Replicas;

/// The first rank of each host that is subject to the hosts' failure process. A host fails with all of its devices.
std::vector<int> ranks_that_fail(const cluster::Cluster& cluster, const cluster::World& world);

/// The training, as the recovery driver sees it.
class Recoverable {
 public:
  virtual ~Recoverable() = default;
  /// The last step that is complete.
  virtual std::int64_t latest_step() const = 0;
  /// A rank's host is down, and its memory is gone.
  virtual void forget(int rank) = 0;
  /// recovers: whether a recovery begins with this crash; else it joins one, or the others go on.
  virtual void crashed(bool recovers) = 0;
  /// A repaired rank rejoins: the current step is aborted.
  virtual void aborted() = 0;
  /// A worker is lost, or is back, while the others go on.
  virtual void lose(int rank) = 0;
  virtual void bring_back(int rank) = 0;
  /// Starts a new generation.
  virtual void relaunch() = 0;
  virtual void note_failure(std::string text) = 0;
};

/// Fails the run: no rank of that role ("worker", "server") is left.
void fail_without(cluster::Cluster& cluster, const char* role);

/// After a crash and the detection time every rank's communicator is revoked: the actors of the old generation end, a
/// partial collective with them. Then a new generation starts: once all ranks are repaired (restart, wait), or at once
/// with the living ranks (shrink, elastic). Under elastic another generation starts with every rank that comes back.
/// Servers hold the only copy of their shard, so a recovery waits for servers that will come back. Under "continue"
/// workers come and go within a generation. Where there are spare hosts, a lost host's place is taken by one of them
/// once the loss is detected, or by the first host that is repaired.
class RecoveryDriver {
 public:
  struct Terms {
    std::uint64_t seed = 1;
    cluster::Recovery recovery = {};
    bool servers_hold = false;  ///< the state that is trained
    bool workers_hold = false;  ///< replicas of it
  };
  RecoveryDriver(cluster::World& world, const Replicas& replicas, Recoverable& training, const Terms& terms);

  /// Schedules the crashes that the scenario names, and those of the hosts' failure process.
  void schedule_crashes();
  /// Whether ranks have noticed the crash of the recovery that is pending.
  bool noticed() const { return revoked_; }
  /// Whether the ranks are between a crash and the next generation. Then nothing moves, which is no deadlock.
  bool pending() const { return pending_ || (keeps_going() && expects()); }
  /// Whether a host is still to come back.
  bool expects() const { return !repairs_.empty() || (spares_ && spares_->lacking() && spares_->expects()); }

 private:
  bool keeps_going() const { return terms_.recovery == cluster::Recovery::keep_going; }
  bool goes_on_without(int rank) const;
  bool has_server(int rank) const;
  bool a_worker_lives() const;
  void crash(int rank, std::optional<double> repair_s);
  void crash_in_place(int rank);
  std::vector<std::pair<int, const cluster::Crash*>> crashes_of_hosts() const;
  void schedule_next(int rank, std::int64_t count, double up_since_s);
  void schedule_next_of_server(int server, std::int64_t count, double up_since_s);
  std::optional<cluster::Outage> next_outage(int host, std::int64_t count, double up_since_s) const;
  int place_of(int rank) const;
  void lose_server(int server, std::optional<double> repair_s);
  void fill_places();
  bool hopeless();
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

  cluster::World& world_;
  cluster::Cluster& cluster_;
  const Replicas& replicas_;
  Recoverable& training_;
  Terms terms_;
  std::vector<Repair> repairs_;   ///< to come
  std::vector<int> places_;       ///< of spares: the first rank of each host
  std::optional<Spares> spares_;  ///< nothing where there are no spares
  std::int64_t best_step_ = 0;    ///< the latest that was ever complete
  int crashes_since_ = 0;         ///< since then
  bool pending_ = false;          ///< a recovery is under way
  bool revoked_ = false;          ///< the actors of the old generation have ended
};

}  // namespace simgrad::training

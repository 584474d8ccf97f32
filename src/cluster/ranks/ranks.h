/// The ranks of one training: their hosts, their speeds, their actors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/by_rank.h"
#include "cluster/ranks/core_load.h"
#include "record/timeline.h"

namespace simgrad::cluster {

class ActorState;
class Cluster;
class Timekeeper;

/// Blocks the calling actor, whose time counts as waiting.
void pause(double seconds);

class Ranks {
 public:
  /// Ranks 0 .. workers-1 are workers, the next `servers` servers; rank r lives on hosts[r].  A host has a core for
  /// each worker that lives on it, and one at least; where more ranks than cores compute at a time, they share its
  /// speed fairly.
  Ranks(Cluster& cluster, Timekeeper& timekeeper, int workers, int servers, const std::vector<int>& hosts);

  int workers() const { return workers_; }
  int servers() const { return ranks_.size() - workers_; }
  int size() const { return ranks_.size(); }
  int host(int rank) const { return ranks_.at(rank).host; }
  bool same_host(int rank, int other) const { return host(rank) == host(other); }
  /// Whether no two ranks live on one host.
  bool own_hosts() const { return own_hosts_; }
  /// Ranks of another training compute on that host, too: all share its speed fairly.
  void share_cores(int host);
  bool shares_cores(int rank) const { return ranks_[rank].shares_cores; }
  /// Busy seconds of the cores of a host whose ranks share them; none: they do not.
  std::optional<double> shared_cores_busy_s(int host, double now) const;

  /// Starts the rank's main actor, whose time is the rank's.  Whatever it throws ends the run, with rank, step and
  /// virtual time in the text; PeerLost does only where there is no `on_peer_lost`.
  void start(int rank, std::function<void()> body);
  /// Starts an actor that serves the rank beside its main one, and ends with it, or at once if all actors are killed
  /// before it has begun.  Returns its number.
  std::int64_t start_side_actor(int rank, std::function<void()> body);
  /// The calling actor of a rank has lost a peer: calls `on_peer_lost` in that actor.
  void lose_peer(int rank, bool main, int lost);
  std::function<void(int lost)> on_peer_lost;
  /// Blocks the calling actor until it is killed.
  static void stand_still();
  /// Ends the run, with rank, step and virtual time in the text.
  void fail(int rank, const char* what);
  /// Kills an actor, if it still lives.
  static void kill(std::int64_t actor);
  /// Kills all actors but the calling one.
  void kill_all();
  /// Adds an actor to those that are killed together.
  void add_actor(std::int64_t actor) { actors_.push_back(actor); }
  /// Whether the rank's main actor has not ended.
  bool running(int rank) const { return ranks_[rank].running; }
  void stopped(int rank) { ranks_[rank].running = false; }
  /// The rank whose actor runs now, or -1.
  int current_rank() const;

  /// The rank computes: flops at the host's nominal speed times the rank's relative one.
  void compute(int rank, double flops, record::Work work = record::Work::compute) const;
  /// The calling actor of the rank computes.  actor: null where its time is not kept.
  void compute(int rank, double flops, ActorState* actor, record::Work work) const;
  /// Flops that ranks have computed to the end; and flops to add to them, or to take off.
  double flops_so_far() const { return flops_so_far_; }
  void count_flops(double flops) const { flops_so_far_ += flops_for_ * flops; }
  /// Every rank that computes stands for so many.
  void count_flops_for(int ranks) { flops_for_ = ranks; }
  /// Seconds of such work alone on a host whose speed does not vary.
  double nominal_s(int rank, double flops) const;
  void set_relative_speed(int rank, double speed) { ranks_.at(rank).relative_speed = speed; }
  double relative_speed(int rank) const { return ranks_.at(rank).relative_speed; }
  /// The bytes of a number in sums, averages and updates, on hosts with devices: there each flop of them reads two
  /// numbers of the device's memory and writes one.
  void set_number_bytes(double bytes);
  /// Such flops as flops at the speed of the rank's host.
  double reduction(int rank, double flops) const { return flops * ranks_[rank].reduction_scale; }

  /// The step that the rank is in, for the texts of errors and for timelines.
  void set_step(int rank, std::int64_t step) { ranks_[rank].step = step; }
  std::int64_t step(int rank) const { return ranks_.at(rank).step; }
  /// The step's address, for callers that read it often.
  const std::int64_t* step_in_place(int rank) const { return &ranks_.at(rank).step; }

 private:
  struct Rank {
    std::int64_t step = -1;
    double relative_speed = 1.0;
    double reduction_scale = 1.0;  ///< with a device: bytes of a number / 8
    int host = 0;
    bool shares_cores = false;  ///< with another rank of its host
    bool running = false;
  };
  void place(const std::vector<int>& hosts);
  std::int64_t start_actor(int rank, bool main, std::function<void()> body);
  void enlist(int rank);
  void run_guarded(int rank, bool main, const std::function<void()>& body);

  Cluster& cluster_;
  Timekeeper& timekeeper_;
  int workers_;
  base::ByRank<Rank> ranks_;
  bool own_hosts_ = true;
  mutable std::unordered_map<int, CoreLoad> loads_;  ///< by host whose ranks share cores
  std::vector<int> rank_of_actor_;                   ///< by SimGrid's actor number; -1: none of ours
  std::vector<std::int64_t> actors_;                 ///< those that have begun
  int killed_ = 0;                                   ///< how often all actors were killed
  mutable double flops_so_far_ = 0.0;
  double flops_for_ = 1.0;
};

}  // namespace simgrad::cluster

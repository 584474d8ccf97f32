/// The state of every rank's main actor, and so where each rank's virtual time goes.
#pragma once

#include "base/by_rank.h"
#include "cluster/ranks/actor_state.h"

namespace simgrad::cluster {

class Cluster;

class Timekeeper {
 public:
  Timekeeper(const Cluster& clock, int ranks) : clock_(clock), ranks_(ranks) {}

  ActorState& main(int rank) { return ranks_[rank].state; }
  const ActorState& main(int rank) const { return ranks_[rank].state; }
  /// The side actor that a rank is blocked on; null: none.
  const ActorState* followed(int rank) const { return ranks_[rank].followed; }
  /// The operation that a rank is blocked in, itself or by the side actor that it waits for.
  const BlockedOn& blocked_on(int rank) const {
    const Rank& each = ranks_[rank];
    return (each.followed ? each.followed : &each.state)->blocked_on();
  }

  /// Time counts from now on.
  void begin();
  /// Counts the rank's time as `down` from now on.
  void go_down(int rank);
  /// The rank is up again, and waits.
  void come_up(int rank);
  /// Every rank that is not down waits from now on: its actor is about to be killed.
  void close_all();
  /// Cuts a collective under way, in which the rank has computed and communicated for so long.
  void cut_collective(int rank, double compute_s, double communicate_s);

 private:
  friend class FollowScope;
  struct Rank {
    ActorState state;
    ActorState* followed = nullptr;   ///< the side actor that it is blocked on, whose time is the rank's meanwhile
    double followed_compute_s = 0.0;  ///< the side actor's, before
    double followed_communicate_s = 0.0;
  };
  void follow(int rank, ActorState& side);
  void settle(Rank& rank);

  const Cluster& clock_;
  base::ByRank<Rank> ranks_;
};

/// While it lives, the rank's main actor is blocked on a side actor, whose computing, communicating and waiting count
/// as the rank's.
class FollowScope {
 public:
  FollowScope(Timekeeper& timekeeper, int rank, ActorState& side);
  ~FollowScope();
  FollowScope(const FollowScope&) = delete;
  FollowScope& operator=(const FollowScope&) = delete;

 private:
  Timekeeper& timekeeper_;
  int rank_;
  int exceptions_;
};

}  // namespace simgrad::cluster

/// The state of every rank's main actor, and so where each rank's virtual time goes.
#pragma once

#include "base/by_rank.h"
#include "cluster/ranks/actor_state.h"

namespace simgrad::cluster {

class Cluster;

class Timekeeper {
 public:
  Timekeeper(const Cluster& clock, int workers, int ranks) : clock_(clock), workers_(workers), ranks_(ranks) {}

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
  /// Every rank that is not down waits from now on, for that cause: its actor is about to be killed.
  void close_all(record::TimePart from_now_on);
  /// The rank waits for a recovery from now on.
  void await_recovery(int rank);
  /// The rank works from now on: idle time has no cause any more.
  void begin_work(int rank);
  /// The actor is in a computed collective, without blocking in it, until it leaves after having computed and
  /// communicated for so long, and waited for these causes.
  void enter_collective(ActorState& actor);
  void leave_collective(ActorState& actor, double compute_s, double communicate_s, const record::TimeParts& causes);
  /// Cuts a computed collective under way, in which the actor has computed and communicated for so long, and waited for
  /// these causes.
  void cut_collective(ActorState& actor, double compute_s, double communicate_s, const record::TimeParts& causes);
  /// The actor is in a computed collective no more, which has brought its account to this.
  void break_off(ActorState& actor, const Account& account);
  /// So much of the time that its side actor is about to add had gone by before the rank waited for it.
  void went_by_before(int rank, double compute_s, double communicate_s, const record::TimeParts& causes);
  /// The rank's time since it left a collective.
  SinceCollective since_collective(int rank);

 private:
  friend class FollowScope;
  struct Rank {
    ActorState state;
    ActorState* followed = nullptr;   ///< the side actor that it is blocked on, whose time is the rank's meanwhile
    double followed_compute_s = 0.0;  ///< the side actor's, before
    double followed_communicate_s = 0.0;
    record::TimeParts followed_parts;
  };
  void follow(int rank, ActorState& side);
  void settle(Rank& rank);

  const Cluster& clock_;
  int workers_;  ///< ranks from here on are servers
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

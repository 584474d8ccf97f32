/// The ranks that are alive: crashes, repairs, and the news of both.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "base/by_rank.h"

namespace simgrad::cluster {

class World;

/// Notified when a rank crashes, when the crash is detected, and when it rejoins. Used only under recovery =
/// "continue".
class MembershipListener {
 public:
  virtual ~MembershipListener() = default;
  virtual void on_crash(int rank) = 0;
  virtual void on_detected(int rank) = 0;
  virtual void on_rejoin(int rank) = 0;
};

class Membership {
  using Listeners = std::shared_ptr<std::vector<MembershipListener*>>;

 public:
  explicit Membership(World& world);

  bool alive(int rank) const { return ranks_[rank].alive; }
  /// The ranks that live on the host of that rank, on any of its devices, in ascending order: they fail together.
  std::vector<int> ranks_beside(int rank) const;
  bool fail_together(int rank, int other) const { return ranks_[rank].host_number == ranks_[other].host_number; }
  int host_number(int rank) const { return ranks_[rank].host_number; }
  /// The rank's host goes down, with all its ranks' actors and their transfers; their time is `down` until revive.
  void crash(int rank);
  void revive(int rank);

  // Under recovery = "continue" no other rank stops. A rank that rejoins is a new incarnation, whose mailboxes have
  // other names: no message for the previous incarnation reaches it.

  void set_keeps_going() { keeps_going_ = true; }
  bool keeps_going() const { return keeps_going_; }
  /// crash() while all others go on: a rank that is blocked on a lost one gets PeerLost at once.
  void lose(int rank);
  /// Tells the others that the rank was lost, unless they know already.
  void announce(int rank);
  /// revive() while all others go on; announces the loss before.
  void rejoin(int rank);
  /// Makes a new incarnation of a living rank: transfers with the old one that have not started fail.
  void start_over(int rank);
  int incarnation(int rank) const { return ranks_[rank].incarnation; }
  double lost_at_s(int rank) const { return ranks_.at(rank).lost_at_s; }

  /// Notifies its listener while it lives. It may outlive the world.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Listeners listeners, MembershipListener& listener);
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

   private:
    Listeners listeners_;
    MembershipListener* listener_ = nullptr;
  };
  /// Does nothing where a failure stops all ranks: then no listener is left.
  Subscription subscribe(MembershipListener& listener) const {
    return keeps_going_ ? Subscription(listeners_, listener) : Subscription();
  }

 private:
  struct Rank {
    double lost_at_s = -std::numeric_limits<double>::infinity();
    int host_number = 0;
    int incarnation = 0;
    bool announced = true;
    bool alive = true;
  };
  void notify(void (MembershipListener::*event)(int), int rank) const;

  World& world_;
  base::ByRank<Rank> ranks_;
  bool keeps_going_ = false;
  Listeners listeners_;
};

}  // namespace simgrad::cluster

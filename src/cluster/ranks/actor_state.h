/// An actor's state: the operation that blocks it, and where its time goes.
#pragma once

#include "cluster/ranks/account.h"

namespace simgrid::s4u {
class Comm;
}

namespace simgrad::cluster {

/// Start of the transfer in virtual time; negative if there is none, or if it has not started.
double transfer_start_s(const simgrid::s4u::Comm* transfer);

/// The operation that an actor is blocked in: for accounts cut at the end, and for the texts of deadlocks.
struct BlockedOn {
  enum class Kind : unsigned char { nothing, sending, receiving, collective };
  static constexpr int anybody = -1;
  Kind kind = Kind::nothing;
  /// The wait will end by itself (all members have arrived, the message is in flight, or there is a timeout): not a
  /// deadlock.
  bool ends_by_itself = false;
  int peer = anybody;
  simgrid::s4u::Comm* transfer = nullptr;

  bool receives_from_anybody() const { return kind == Kind::receiving && peer == anybody; }
};

/// Only the scopes (BusyScope, BlockedScope, FollowScope) and the Timekeeper change it.
class ActorState {
 public:
  /// Where its time is recorded; null: nowhere.
  Track* track() const { return account_.track(); }
  void record_on(Track* track) { account_.record_on(track); }
  /// Whether the actor is between two operations that take time.
  bool idle() const { return account_.state() == Account::State::waiting; }
  const Account& account() const { return account_; }
  const BlockedOn& blocked_on() const { return blocked_on_; }
  /// The actor's wait will end by itself from now on.
  void ends_by_itself() { blocked_on_.ends_by_itself = true; }
  /// Adds all time up to `now` to the present state, and records it.
  void settle(double now) { account_.settle(now, transfer_start_s(blocked_on_.transfer)); }

 private:
  friend class BusyScope;
  friend class BlockedScope;
  friend class Timekeeper;
  Account account_;
  BlockedOn blocked_on_;
};

}  // namespace simgrad::cluster

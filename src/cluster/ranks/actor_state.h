/// An actor's state: the operation that blocks it, and where its time goes.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "cluster/ranks/account.h"

namespace simgrad::cluster {

class ActorState;
class AfterCollective;
class AnyTransfer;

/// Start of the transfer in virtual time; negative if there is none, or if it has not started.
double transfer_start_s(const AnyTransfer* transfer);

/// The operation that an actor is blocked in: for accounts cut at the end, and for the texts of deadlocks.
struct BlockedOn {
  enum class Kind : unsigned char { nothing, sending, receiving, collective };
  static constexpr int anybody = -1;
  Kind kind = Kind::nothing;
  /// The wait will end by itself (all members have arrived, the message is in flight, or there is a timeout): not a
  /// deadlock.
  bool ends_by_itself = false;
  int peer = anybody;
  const AnyTransfer* transfer = nullptr;
  /// Where the actor at the other end is named: in the channel, which knows it once it has called.
  const ActorState* const* other_end = nullptr;
  const ActorState* awaited = nullptr;  ///< the actor that is waited for, where there is no channel

  bool receives_from_anybody() const { return kind == Kind::receiving && peer == anybody; }
};

/// Only the scopes (BusyScope, BlockedScope, FollowScope) and the Timekeeper change it; MembersReplay changes copies.
class ActorState {
 public:
  /// Where its time is recorded; null: nowhere.
  Track* track() const { return account_.track(); }
  /// Tells the track the cause of most of the waiting since it was last told.
  void tell_cause() { account_.tell_cause(); }
  void record_on(Track* track) { account_.record_on(track); }
  /// Whether the actor is between two operations that take time.
  bool idle() const { return account_.state() == Account::State::waiting; }
  const Account& account() const { return account_; }
  const BlockedOn& blocked_on() const { return blocked_on_; }
  /// Since when its rank has waited for this side actor, which was in a computed collective then, and still is.
  std::optional<double> followed_in_collective_s() const { return followed_in_collective_s_; }
  /// Since when its rank has waited for this actor: always where it is the rank's main one; infinity: it does not wait.
  double awaited_since_s() const { return beside_ ? awaited_since_s_ : -std::numeric_limits<double>::infinity(); }
  /// The actor's wait will end by itself from now on.
  void ends_by_itself() { blocked_on_.ends_by_itself = true; }
  /// Goes on after the collectives that this side actor's calls enter without blocking; null: they block.
  AfterCollective* after_collective() const { return after_collective_; }
  void set_after_collective(AfterCollective* after) { after_collective_ = after; }
  /// The seconds of its rank's work on each block that the ring under way carries (BlockWorkScope); none: it carries
  /// no blocks.
  const std::optional<double>& block_work_s() const { return block_work_s_; }
  void set_block_work_s(std::optional<double> seconds) { block_work_s_ = seconds; }
  double block_s() const { return block_work_s_.value_or(0.0); }
  /// Adds all time up to `now` to the present state, and records it.
  void settle(double now) { settle(now, transfer_start_s(blocked_on_.transfer)); }
  /// Idle time of this side actor is its rank's main actor's.
  void stands_beside(const ActorState& main) { beside_ = &main; }
  bool is_beside() const { return beside_ != nullptr; }
  /// The causes that this actor was, from `from_s` to `to_s`, for one that waited for it.
  std::vector<Stretch> past(double from_s, double to_s) const;
  /// The cause of idle time from now on, and within a checkpoint or a recovery of all waiting for this actor.
  void set_within(record::TimePart within, double now);
  /// The parts of its time up to `now`.
  const record::TimeParts& parts(double now) {
    add_until(now);
    return account_.parts();
  }
  SinceCollective since_collective(double now) {
    add_until(now);
    return account_.since_collective();
  }
  void left_collective(double now) { account_.left_collective(now); }
  /// Puts the seconds of waiting since `before` down to other causes.
  void replace_causes(const record::TimeParts& before, const record::TimeParts& causes) {
    account_.replace_causes(before, causes);
  }

 private:
  friend class BusyScope;
  friend class BlockedScope;
  friend class MembersReplay;
  friend class Timekeeper;
  void enter(Account::State state, double now, record::TimePart part = record::TimePart::communicate_transfer);
  void leave(double now, double transfer_start_s = -1.0);
  void settle(double now, double transfer_start_s);
  void add_until(double now);
  /// The causes of the waiting in the present state, until then.
  std::vector<Stretch> causes(double until_s) const;
  void add_past(double from_s, double to_s, int depth, std::vector<Stretch>& to) const;
  void add_awaited(double from_s, double to_s, int depth, std::vector<Stretch>& to) const;

  Account account_;
  BlockedOn blocked_on_;
  const ActorState* beside_ = nullptr;
  AfterCollective* after_collective_ = nullptr;
  std::optional<double> block_work_s_;
  std::optional<double> followed_in_collective_s_;
  double awaited_since_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace simgrad::cluster

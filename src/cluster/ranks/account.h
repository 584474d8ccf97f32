/// Where one rank's virtual time went: compute, communicate, wait, down; the four add up to the run.
#pragma once

#include "cluster/recording/track.h"
#include "record/record.h"

namespace simgrad::cluster {

/// The exact partition of one rank's virtual time. Between the calls below no virtual time passes for the rank.
///
/// A blocked rank waits until the transfer it is blocked on starts, and communicates from then on.
class Account {
 public:
  enum class State : unsigned char { waiting, computing, communicating, blocked, down };

  /// Its time counts from here on.
  void begin(double now) { since_ = now; }
  /// The rank starts something that takes virtual time.
  void enter(State state, double now) {
    settle(now);
    state_ = state;
  }
  /// What it started is over.  transfer_start: when the transfer it was blocked on started; negative if it never did.
  void leave(double now, double transfer_start = -1.0) {
    settle(now, transfer_start);
    state_ = State::waiting;
    if (track_) track_->rest();
  }
  /// What it was blocked in is over: so much of it was computing and communicating, the rest waiting.
  void leave_collective(double now, double compute_s, double communicate_s);
  /// Accounts for all time up to `now` under the present state.
  void settle(double now, double transfer_start = -1.0);
  /// The same in the middle of what the actor does, which the track is told when it is over.
  void look(double now, double transfer_start = -1.0);

  /// Whatever passes from now on is told to that track; null: to nobody.
  void tell(Track* track) { track_ = track; }
  Track* track() const { return track_; }

  State state() const { return state_; }
  double compute_s() const { return compute_s_; }
  double communicate_s() const { return communicate_s_; }
  void add_to(record::RankUse& use) const;

 private:
  double compute_s_ = 0.0;
  double communicate_s_ = 0.0;
  double wait_s_ = 0.0;
  double down_s_ = 0.0;
  double since_ = 0.0;
  State state_ = State::waiting;
  Track* track_ = nullptr;
};

}  // namespace simgrad::cluster

/// Where one actor's virtual time goes: compute, communicate, wait, down; the four add up to the run.
#pragma once

#include "cluster/recording/track.h"

namespace simgrad::record {
struct RankUse;
}

namespace simgrad::cluster {

/// An exact partition of virtual time. Between the calls below no virtual time passes for the actor.
///
/// A blocked actor waits until the transfer that it is blocked on starts, and communicates from then on.
class Account {
 public:
  enum class State : unsigned char { waiting, computing, communicating, blocked, down };

  /// Time counts from `now` on.
  void begin(double now) { since_ = now; }
  /// The actor starts something that takes virtual time.
  void enter(State state, double now) {
    settle(now);
    state_ = state;
  }
  /// The present state is over.  transfer_start_s: start of the transfer that the actor was blocked on; negative if it
  /// never started.
  void leave(double now, double transfer_start_s = -1.0) {
    settle(now, transfer_start_s);
    state_ = State::waiting;
    if (track_) track_->rest();
  }
  /// The present state is over: its seconds of computing and communicating are given, the rest was waiting.
  void leave_divided(double now, double compute_s, double communicate_s);
  /// Adds all time up to `now` to the present state, and records it.
  void settle(double now, double transfer_start_s = -1.0);
  /// Adds all time up to `now` to the present state, which is recorded as one span when it is over.
  void add_until(double now, double transfer_start_s = -1.0);

  /// Records this actor's time on `track` from now on; null stops recording.
  void record_on(Track* track) { track_ = track; }
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

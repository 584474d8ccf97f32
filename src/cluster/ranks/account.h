/// Where one actor's virtual time goes: compute, communicate, wait, down; the four add up to the run, and the parts of
/// each add up to it.
#pragma once

#include <span>

#include "cluster/recording/history.h"
#include "cluster/recording/track.h"
#include "record/time_part.h"

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

  /// Time counts from `now` on.  server: whether the actor is a server's, whose computing is its own cause of waiting.
  void begin(double now, bool server);
  /// The actor starts something that takes virtual time.  part: of computing or communicating.
  void enter(State state, double now, record::TimePart part = record::TimePart::communicate_transfer);
  /// The present state is over.  transfer_start_s: start of the transfer that the actor was blocked on; negative if it
  /// never started.  causes: of the time that was waited.
  void leave(double now, double transfer_start_s = -1.0, std::span<const Stretch> causes = {});
  /// The present state is over: its seconds of computing and communicating are given, the rest was waiting, for causes
  /// that are given, too.
  void leave_collective(double now, double compute_s, double communicate_s, const record::TimeParts& causes);
  /// The present state is over: another actor worked for this one, with so many seconds of each part.
  void leave_followed(double now, double compute_s, double communicate_s, const record::TimeParts& parts,
                      std::span<const Stretch> past);
  /// Adds all time up to `now` to the present state, and records it.
  void settle(double now, double transfer_start_s = -1.0, std::span<const Stretch> causes = {});
  /// Adds all time up to `now` to the present state, which is recorded as one span when it is over.
  void add_until(double now, double transfer_start_s = -1.0, std::span<const Stretch> causes = {});
  /// The actor's time since it left a collective that nobody leaves before all have come.
  SinceCollective since_collective() const { return {left_collective_s_, caused_ - caused_before_}; }
  void left_collective(double now) {
    left_collective_s_ = now;
    caused_before_ = caused_;
  }
  /// Puts the seconds of waiting since `before` down to other causes.
  void replace_causes(const record::TimeParts& before, const record::TimeParts& causes);

  /// The cause of idle time, and within a checkpoint or a recovery of all waiting for this actor; wait_other: none.
  record::TimePart within() const { return within_; }
  void set_within(record::TimePart within) { within_ = within; }

  /// Records this actor's time on `track` from now on; null stops recording.
  void record_on(Track* track) { track_ = track; }
  Track* track() const { return track_; }
  /// Tells the track the cause of most of the waiting since it was last told.
  void tell_cause();

  State state() const { return state_; }
  double since_s() const { return since_; }
  double compute_s() const { return compute_s_; }
  double communicate_s() const { return communicate_s_; }
  const record::TimeParts& parts() const { return parts_; }
  const History& history() const { return history_; }
  /// The cause of waiting that the present state, which is not `blocked`, is for others.
  record::TimePart present_cause() const;
  /// The seconds of computing and of being down until now, the present state's included.
  double computed_s(double now) const { return compute_s_ + (state_ == State::computing ? now - since_ : 0.0); }
  double been_down_s(double now) const { return down_s_ + (state_ == State::down ? now - since_ : 0.0); }
  void add_to(record::RankUse& use) const;

 private:
  record::TimePart cause(record::TimePart part) const;
  /// The actor is such a cause for others until then.
  void be_cause(double until, record::TimePart cause);
  /// One part, until then.
  void spend(record::TimePart part, double until);
  /// Waiting until then, for these causes.
  void wait(double until, std::span<const Stretch> causes);
  void leave_divided(double now);
  void record(double now, double transfer_start_s);

  double compute_s_ = 0.0;
  double communicate_s_ = 0.0;
  double wait_s_ = 0.0;
  double down_s_ = 0.0;
  double since_ = 0.0;
  record::TimeParts parts_;
  record::TimeParts caused_;         ///< the same time, by the causes of waiting that it is for others
  record::TimeParts caused_before_;  ///< when the actor left the last collective
  record::TimeParts told_;           ///< the parts when the track was last told a cause
  double left_collective_s_ = 0.0;
  History history_;
  State state_ = State::waiting;
  record::TimePart part_ = record::TimePart::communicate_transfer;
  record::TimePart within_ = record::TimePart::wait_other;
  bool server_ = false;
  Track* track_ = nullptr;
};

}  // namespace simgrad::cluster

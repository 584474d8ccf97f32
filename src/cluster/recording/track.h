/// One actor's time as it is recorded, span by span.
#pragma once

#include <cstdint>
#include <vector>

#include "record/timeline.h"

namespace simgrad::cluster {

class Recorder;

/// What an actor does, with whom.
struct SpanLabel {
  record::Work work = record::Work::idle;
  int peer = -1;  ///< a rank of the world
  std::int64_t bytes = 0;
};

/// A stretch of time given to one label.
struct Interval {
  record::Activity kind = record::Activity::wait;
  SpanLabel label;
  double from_s = 0.0;
  double to_s = 0.0;
};

/// It has a hand that moves on with the actor's account of time: what is told is what lies between the hand and now.
class Track {
 public:
  /// step: the rank's, looked at whenever something is told.  main: of the rank itself; else an actor beside, which
  /// gets its number when it first works, and whose idle time is not told.
  Track(Recorder& recorder, int rank, const std::int64_t* step, bool main, double now)
      : recorder_(recorder), rank_(rank), step_(step), main_(main), recorded_until_s_(now) {}

  int rank() const { return rank_; }
  std::int64_t step() const { return *step_; }
  /// What the actor begins. Transfers within a named work are that work.
  void begin(SpanLabel label) { label_ = label; }
  void transfer(SpanLabel label) {
    label_ = label;
    if (within_ != record::Work::idle) label_.work = within_;
  }
  const SpanLabel& label() const { return label_; }
  void rest() { label_ = {.work = within_}; }
  record::Work within() const { return within_; }
  void set_within(record::Work work) { within_ = work; }

  /// All time up to then went like this.
  void tell(record::Activity kind, double until_s) { tell({kind, label_, recorded_until_s_, until_s}); }
  /// It waited until a transfer started (negative: it never did), and communicated from then on.
  void record_blocked(double until_s, double transfer_start_s);
  /// All intervals in the order of time; between two it waited for the next.
  void tell(const std::vector<Interval>& intervals);
  void tell(const Interval& interval);
  /// What is told already, ahead of time.
  void mark_recorded(double to_s) { recorded_until_s_ = to_s; }

  /// While somebody follows this actor, what it tells is kept for them.
  void keep(bool on);
  const std::vector<Interval>& kept() const { return kept_; }

  /// The intervals of what is not told yet, up to `until_s`, without moving the hand.
  void untold(std::vector<Interval>& intervals, record::Activity kind, double until_s) const;
  void unrecorded_blocked(std::vector<Interval>& intervals, double until_s, double transfer_start_s) const;
  void untold(std::vector<Interval>& intervals, const std::vector<Interval>& told) const;

 private:
  friend class Recorder;

  Recorder& recorder_;
  int rank_;
  const std::int64_t* step_;
  bool main_;
  int number_ = -1;  ///< of an actor beside, once it has worked
  SpanLabel label_;
  record::Work within_ = record::Work::idle;
  double recorded_until_s_;
  bool keeps_ = false;
  std::vector<Interval> kept_;
};

}  // namespace simgrad::cluster

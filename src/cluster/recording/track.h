/// One actor's time as it is recorded, span by span.
#pragma once

#include <cstdint>
#include <vector>

#include "record/time_part.h"

namespace simgrad::cluster {

class Recorder;

/// The work of a span, and its peer.
struct SpanLabel {
  record::Work work = record::Work::idle;
  int peer = -1;  ///< a rank of the world
  std::int64_t bytes = 0;
};

/// A stretch of an actor's time, spent in one way.
struct Interval {
  record::Activity kind = record::Activity::wait;
  SpanLabel label;
  double from_s = 0.0;
  double to_s = 0.0;
  record::TimePart cause = record::TimePart::wait_other;  ///< of a wait; wait_other: not known
};

/// Emits one span per state change. `recorded_until_s` is the end of the last span; each call emits the span from there
/// to now.
class Track {
 public:
  /// step: the rank's, looked at for every span.  main: of the rank's main actor; a side actor gets its number when it
  /// first works, and its idle time is not recorded.
  Track(Recorder& recorder, int rank, const std::int64_t* step, bool main, double now)
      : recorder_(recorder), rank_(rank), step_(step), main_(main), recorded_until_s_(now) {}

  int rank() const { return rank_; }
  std::int64_t step() const { return *step_; }
  bool main() const { return main_; }
  /// The number of a side actor among those of its rank that have worked; negative: it has not worked.
  int number() const { return number_; }
  void set_number(int number) { number_ = number; }
  /// The micro-batch that the actor works on; -1: none.
  int micro() const { return micro_; }
  void set_micro(int micro) { micro_ = micro; }
  double recorded_until_s() const { return recorded_until_s_; }

  /// Labels the operation that begins. Transfers within a named work have its name.
  void begin(const SpanLabel& label) { label_ = label; }
  void transfer(const SpanLabel& label) {
    label_ = label;
    if (within_ != record::Work::idle) label_.work = within_;
  }
  const SpanLabel& label() const { return label_; }
  /// Ends the operation.
  void rest() { label_ = {.work = within_}; }
  /// The named work that transfers and idle times are part of; idle: none.
  record::Work within() const { return within_; }
  void set_within(record::Work work) { within_ = work; }

  /// Records all time up to `until_s` as one span.
  void record(record::Activity kind, double until_s) { record({kind, label_, recorded_until_s_, until_s, cause_}); }
  /// The cause of the waits that are recorded from now on; wait_other: not known.
  void set_cause(record::TimePart cause) { cause_ = cause; }
  /// Records that the actor waited until a transfer started (negative: it never did), and communicated from then on.
  void record_blocked(double until_s, double transfer_start_s);
  /// Records intervals in the order of time; between two the actor waited for the next.
  void record(const std::vector<Interval>& intervals);
  void record(const Interval& interval);
  /// Marks the time up to `until_s` as recorded, or as not wanted.
  void mark_recorded(double until_s) { recorded_until_s_ = until_s; }

  /// While a rank is blocked on this side actor its spans are buffered, so that the rank's own track can show them.
  void buffer(bool on, double now);
  /// The buffered intervals up to `until_s`.
  std::vector<Interval> buffered(double until_s) const;
  /// Notes an interval that the recorder has taken ahead of time.
  void taken_ahead(const Interval& interval, double now);

  /// Appends the intervals up to `until_s` that are not recorded yet. Records nothing.
  void unrecorded(std::vector<Interval>& intervals, record::Activity kind, double until_s) const;
  void unrecorded_blocked(std::vector<Interval>& intervals, double until_s, double transfer_start_s) const;
  void unrecorded(std::vector<Interval>& intervals, const std::vector<Interval>& known) const;

 private:
  Recorder& recorder_;
  int rank_;
  const std::int64_t* step_;
  bool main_;
  int number_ = -1;
  int micro_ = -1;
  SpanLabel label_;
  record::TimePart cause_ = record::TimePart::wait_other;
  record::Work within_ = record::Work::idle;
  double recorded_until_s_;
  bool buffers_ = false;
  std::vector<Interval> buffered_;
  std::vector<Interval> ahead_;  ///< those taken ahead that lie in the future
};

}  // namespace simgrad::cluster

/// One timeline as it is recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/stand_ins.h"
#include "record/timeline.h"

namespace simgrad::cluster {

/// The limits of a timeline: the first ranks of each role, until it is full. The default is enough for a picture.
struct TimelineLimits {
  int workers = 32;
  int servers = 8;
  std::size_t spans = 1500;
  std::optional<std::pair<std::int64_t, std::int64_t>> steps = {};  ///< from, to; none: all
};

/// Records until its limit is reached, then ends at the last time that is known of every rank. If limited to a range of
/// steps it keeps their spans, and idle or down time during them.
class TimelineRecorder {
 public:
  /// stand_ins: null: every rank is simulated, and can be recorded.
  TimelineRecorder(const TimelineLimits& limits, int workers, int servers, const StandIns* stand_ins = nullptr);

  bool takes(int rank) const {
    if (rank >= workers_) return rank - workers_ < limits_.servers;
    const int place = stand_ins_ ? stand_ins_->place[static_cast<std::size_t>(rank)] : rank;
    return place >= 0 && place < limits_.workers;
  }
  bool running() const { return running_; }
  bool full() const { return spans_.size() >= limits_.spans || messages_.size() >= 4 * limits_.spans; }
  /// The number of spans that it still has room for.
  std::size_t room() const { return full() ? 0 : limits_.spans - spans_.size(); }
  /// Takes nothing after that time.
  void end_by(double end_s);
  double end_s() const { return end_s_; }
  void take(const record::Span& span);
  void take(const record::TimedMessage& message);
  /// Stops recording, whether the timeline is full or the run has ended.
  void stop(double now);
  /// The timeline, with times since start_s.
  record::Timeline timeline(double start_s) const;

 private:
  bool in_steps(std::int64_t step) const;

  TimelineLimits limits_;
  const StandIns* stand_ins_;
  int workers_;
  int servers_;
  bool running_ = true;
  bool left_out_ = false;
  double end_s_ = std::numeric_limits<double>::infinity();
  double full_s_ = std::numeric_limits<double>::infinity();  ///< when it is full, if that is known
  std::int64_t last_step_ = -1;
  std::vector<record::Span> spans_;
  /// Spans of other steps than those asked for: down or idle time, which belongs to no step. At most
  /// as many as spans.
  std::vector<record::Span> between_;
  std::vector<record::TimedMessage> messages_;
};

}  // namespace simgrad::cluster

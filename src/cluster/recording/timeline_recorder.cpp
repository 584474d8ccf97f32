#include "cluster/recording/timeline_recorder.h"

#include <algorithm>
#include <tuple>

namespace simgrad::cluster {

using record::Timeline;
using record::Work;

TimelineRecorder::TimelineRecorder(const TimelineLimits& limits, int workers, int servers, const StandIns* stand_ins)
    : limits_(limits), stand_ins_(stand_ins), workers_(workers), servers_(servers) {}

bool TimelineRecorder::in_steps(std::int64_t step) const {
  if (!limits_.steps) return true;
  const auto [from, to] = *limits_.steps;
  return std::max<std::int64_t>(step, 0) >= from && step <= to;  // time before the first step belongs to it
}

void TimelineRecorder::end_by(double end_s) { full_s_ = end_s_ = std::min(end_s_, end_s); }

void TimelineRecorder::take(const record::Span& span) {
  if (!running_ || !takes(span.rank) || span.from_s >= end_s_) return;
  const bool idle = span.kind == record::Activity::down || span.name == static_cast<int>(Work::idle);
  if (!idle) last_step_ = std::max(last_step_, span.step);
  if (in_steps(span.step)) {
    spans_.push_back(span);
    return;
  }
  left_out_ = true;
  if (idle && between_.size() < limits_.spans) between_.push_back(span);
}

void TimelineRecorder::take(const record::TimedMessage& message) {
  if (!running_ || !takes(message.source) || !takes(message.target) || message.start_s >= end_s_) return;
  if (in_steps(message.step))
    messages_.push_back(message);
  else
    left_out_ = true;
}

void TimelineRecorder::stop(double now) {
  end_s_ = std::min(end_s_, now);
  running_ = false;
}

Timeline TimelineRecorder::timeline(double start_s) const {
  Timeline timeline;
  for (std::size_t work = 0; work < static_cast<std::size_t>(Work::count); ++work)
    timeline.names.emplace_back(name(static_cast<Work>(work)));
  for (record::Span span : spans_) {
    if (span.from_s >= end_s_) continue;
    span.to_s = std::min(span.to_s, end_s_) - start_s;
    span.from_s -= start_s;
    timeline.spans.push_back(span);
  }
  for (record::TimedMessage message : messages_) {
    if (message.start_s >= end_s_) continue;
    message.end_s = std::min(message.end_s, end_s_) - start_s;
    message.start_s -= start_s;
    timeline.messages.push_back(message);
  }
  timeline.to_s = end_s_ - start_s;
  if (limits_.steps) {  // a window: it shows where its steps lie
    timeline.from_s = timeline.to_s;
    for (const record::Span& span : timeline.spans) timeline.from_s = std::min(timeline.from_s, span.from_s);
    double last_s = timeline.from_s;
    for (const record::Span& span : timeline.spans) last_s = std::max(last_s, span.to_s);
    timeline.to_s = last_s;
    for (record::Span span : between_) {
      span.from_s = std::max(span.from_s - start_s, timeline.from_s);
      span.to_s = std::min(span.to_s - start_s, timeline.to_s);
      if (span.from_s < span.to_s) timeline.spans.push_back(span);
    }
  }
  std::ranges::stable_sort(timeline.spans, {},
                           [](const record::Span& span) { return std::tuple(span.rank, span.lane, span.from_s); });
  std::ranges::stable_sort(timeline.messages, {}, [](const record::TimedMessage& message) {
    return std::tuple(message.start_s, message.end_s, message.source, message.target);
  });
  for (int rank = 0; rank < workers_ + servers_; ++rank)
    if (takes(rank)) timeline.ranks.push_back(rank);
  timeline.last_step = last_step_;
  timeline.full = full() || end_s_ >= full_s_;
  timeline.whole =
      !left_out_ && !timeline.full && timeline.ranks.size() == static_cast<std::size_t>(workers_ + servers_);
  return timeline;
}

}  // namespace simgrad::cluster

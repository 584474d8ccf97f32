#include "cluster/recording/recorder.h"

#include <algorithm>

namespace simgrad::cluster {

constexpr double never = std::numeric_limits<double>::infinity();

using record::Work;

Recorder::Recorder(const std::vector<TimelineLimits>& timelines, int ranks, int workers, const StandIns* stand_ins,
                   std::function<double()> now, std::function<void(TimelineRecorder&)> finish)
    : finish_(std::move(finish)), now_(std::move(now)), numbered_(ranks, 0) {
  for (const TimelineLimits& limits : timelines) timelines_.emplace_back(limits, workers, ranks - workers, stand_ins);
}

bool Recorder::takes(int rank) const {
  return std::ranges::any_of(timelines_, [rank](const TimelineRecorder& timeline) { return timeline.takes(rank); });
}

bool Recorder::running() const { return std::ranges::any_of(timelines_, &TimelineRecorder::running); }

Track& Recorder::new_track(int rank, const std::int64_t* step, bool main, double now) {
  return tracks_.emplace_back(*this, rank, step, main, now);
}

record::Span Recorder::span(Track& track, const Interval& interval) {
  if (!track.main() && track.number() < 0) track.set_number(++numbered_[track.rank()]);
  const bool known = interval.kind == record::Activity::wait && interval.cause != record::TimePart::wait_other;
  return {.rank = track.rank(),
          .lane = track.main() ? 0 : track.number(),
          .kind = interval.kind,
          .name = static_cast<int>(interval.label.work),
          .step = track.step(),
          .peer = interval.label.peer,
          .bytes = interval.label.bytes,
          .from_s = interval.from_s,
          .to_s = interval.to_s,
          .cause = known ? static_cast<int>(interval.cause) : -1,
          .micro = track.micro()};
}

void Recorder::take(TimelineRecorder& timeline, Track& track, const Interval& interval) {
  const bool listens = interval.label.work == Work::idle || interval.label.work == Work::receive;
  if (!track.main() && interval.kind == record::Activity::wait && listens) return;
  timeline.take(span(track, interval));
}

void Recorder::take(Track& track, const Interval& interval) {
  for (TimelineRecorder& timeline : timelines_) take(timeline, track, interval);
  finish_full();
}

void Recorder::take(const record::TimedMessage& message) {
  for (TimelineRecorder& timeline : timelines_) timeline.take(message);
}

void Recorder::finish_full() {
  const double now = now_();
  for (TimelineRecorder& timeline : timelines_)
    if (timeline.running() && (now >= timeline.end_s() || (timeline.full() && timeline.end_s() == never)))
      finish_(timeline);
}

void Recorder::take(const std::vector<std::pair<Track*, Interval>>& intervals,
                    const std::vector<record::TimedMessage>& messages, double complete_until_s) {
  for (TimelineRecorder& timeline : timelines_) {
    if (!timeline.running()) continue;
    std::vector<double> starts;
    for (const auto& [track, interval] : intervals)
      if (timeline.takes(track->rank())) starts.push_back(interval.from_s);
    if (const std::size_t room = timeline.room(); room > 0 && starts.size() >= room) {
      const auto last = starts.begin() + static_cast<std::ptrdiff_t>(room - 1);
      std::nth_element(starts.begin(), last, starts.end());
      timeline.end_by(*last);
    }
    timeline.end_by(complete_until_s);
    for (const auto& [track, interval] : intervals) take(timeline, *track, interval);
    for (const record::TimedMessage& message : messages) timeline.take(message);
  }
  for (const auto& [track, interval] : intervals) track->taken_ahead(interval, now_());
  finish_full();
}

std::size_t Recorder::room() const {
  std::size_t most = 0;
  for (const TimelineRecorder& timeline : timelines_)
    if (timeline.running()) most = std::max(most, timeline.room());
  return most;
}

}  // namespace simgrad::cluster

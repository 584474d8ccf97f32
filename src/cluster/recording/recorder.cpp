#include "cluster/recording/recorder.h"

#include <algorithm>

namespace simgrad::cluster {

constexpr double never = std::numeric_limits<double>::infinity();

using record::Work;

Recorder::Recorder(const std::vector<TimelineLimits>& tapes, int workers, int servers, std::function<double()> now,
                   std::function<void(TimelineRecorder&)> finish)
    : finish_(std::move(finish)), now_(std::move(now)), numbered_(static_cast<std::size_t>(workers + servers), 0) {
  for (const TimelineLimits& limits : tapes) tapes_.emplace_back(limits, workers, servers);
}

bool Recorder::takes(int rank) const {
  return std::ranges::any_of(tapes_, [rank](const TimelineRecorder& tape) { return tape.takes(rank); });
}

bool Recorder::running() const { return std::ranges::any_of(tapes_, &TimelineRecorder::running); }

Track& Recorder::new_track(int rank, const std::int64_t* step, bool main, double now) {
  return tracks_.emplace_back(*this, rank, step, main, now);
}

record::Span Recorder::span(Track& track, const Interval& interval) {
  if (!track.main_ && track.number_ < 0) track.number_ = ++numbered_[static_cast<std::size_t>(track.rank_)];
  return {.rank = track.rank_,
          .lane = track.main_ ? 0 : track.number_,
          .kind = interval.kind,
          .name = static_cast<int>(interval.label.work),
          .step = track.step(),
          .peer = interval.label.peer,
          .bytes = interval.label.bytes,
          .from_s = interval.from_s,
          .to_s = interval.to_s};
}

void Recorder::take(TimelineRecorder& tape, Track& track, const Interval& interval) {
  const bool listens = interval.label.work == Work::idle || interval.label.work == Work::receive;
  if (!track.main_ && interval.kind == record::Activity::wait && listens) return;
  tape.take(span(track, interval));
}

void Recorder::take(Track& track, const Interval& interval) {
  for (TimelineRecorder& tape : tapes_) take(tape, track, interval);
  finish_full();
}

void Recorder::take(const record::Message& message) {
  for (TimelineRecorder& tape : tapes_) tape.take(message);
}

void Recorder::finish_full() {
  const double now = now_();
  for (TimelineRecorder& tape : tapes_)
    if (tape.running() && (now >= tape.end_s() || (tape.full() && tape.end_s() == never))) finish_(tape);
}

void Recorder::take(const std::vector<std::pair<Track*, Interval>>& intervals,
                    const std::vector<record::Message>& messages, double complete_until_s) {
  for (TimelineRecorder& tape : tapes_) {
    if (!tape.running()) continue;
    std::vector<double> starts;
    for (const auto& [track, interval] : intervals)
      if (tape.takes(track->rank())) starts.push_back(interval.from_s);
    if (const std::size_t room = tape.room(); room > 0 && starts.size() >= room) {
      const auto last = starts.begin() + static_cast<std::ptrdiff_t>(room - 1);
      std::nth_element(starts.begin(), last, starts.end());
      tape.end_by(*last);
    }
    tape.end_by(complete_until_s);
    for (const auto& [track, interval] : intervals) take(tape, *track, interval);
    for (const record::Message& message : messages) tape.take(message);
  }
  for (const auto& [track, interval] : intervals)
    track->mark_recorded(std::max(track->recorded_until_s_, interval.to_s));
  finish_full();
}

std::size_t Recorder::room() const {
  std::size_t most = 0;
  for (const TimelineRecorder& tape : tapes_)
    if (tape.running()) most = std::max(most, tape.room());
  return most;
}

}  // namespace simgrad::cluster

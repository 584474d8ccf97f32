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

Lane& Recorder::new_lane(int rank, const std::int64_t* step, bool main, double now) {
  return lanes_.emplace_back(*this, rank, step, main, now);
}

record::Span Recorder::span(Lane& lane, const Piece& piece) {
  if (!lane.main_ && lane.number_ < 0) lane.number_ = ++numbered_[static_cast<std::size_t>(lane.rank_)];
  return {.rank = lane.rank_,
          .lane = lane.main_ ? 0 : lane.number_,
          .kind = piece.kind,
          .name = static_cast<int>(piece.deed.work),
          .step = lane.step(),
          .peer = piece.deed.peer,
          .bytes = piece.deed.bytes,
          .from_s = piece.from_s,
          .to_s = piece.to_s};
}

void Recorder::take(TimelineRecorder& tape, Lane& lane, const Piece& piece) {
  const bool listens = piece.deed.work == Work::idle || piece.deed.work == Work::receive;
  if (!lane.main_ && piece.kind == record::Activity::wait && listens) return;
  tape.take(span(lane, piece));
}

void Recorder::take(Lane& lane, const Piece& piece) {
  for (TimelineRecorder& tape : tapes_) take(tape, lane, piece);
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

void Recorder::take(const std::vector<std::pair<Lane*, Piece>>& pieces, const std::vector<record::Message>& messages,
                    double complete_until_s) {
  for (TimelineRecorder& tape : tapes_) {
    if (!tape.running()) continue;
    std::vector<double> starts;
    for (const auto& [lane, piece] : pieces)
      if (tape.takes(lane->rank())) starts.push_back(piece.from_s);
    if (const std::size_t room = tape.room(); room > 0 && starts.size() >= room) {
      const auto last = starts.begin() + static_cast<std::ptrdiff_t>(room - 1);
      std::nth_element(starts.begin(), last, starts.end());
      tape.end_by(*last);
    }
    tape.end_by(complete_until_s);
    for (const auto& [lane, piece] : pieces) take(tape, *lane, piece);
    for (const record::Message& message : messages) tape.take(message);
  }
  for (const auto& [lane, piece] : pieces) lane->move_hand(std::max(lane->hand_s_, piece.to_s));
  finish_full();
}

std::size_t Recorder::room() const {
  std::size_t most = 0;
  for (const TimelineRecorder& tape : tapes_)
    if (tape.running()) most = std::max(most, tape.room());
  return most;
}

}  // namespace simgrad::cluster

/// What a world tells those who record it.
#include <fmt/format.h>

#include <simgrid/s4u.hpp>

#include "base/errors.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/recorder.h"
#include "cluster/recording/work_scope.h"

namespace simgrad::cluster {

using record::Work;

void World::record(const std::vector<TimelineLimits>& tapes) {
  base::check(!recorder_ && !ended_, "what is recorded is decided once, before the world begins");
  if (tapes.empty()) return;
  recorder_ = std::make_unique<Recorder>(
      tapes, workers_, servers_, [this] { return now(); }, [this](TimelineRecorder& tape) { finish(tape); });
  for (int rank = 0; rank < size(); ++rank) {
    Rank& each = ranks_[static_cast<std::size_t>(rank)];
    if (recorder_->takes(rank)) each.account.tell(&recorder_->new_lane(rank, &each.step, true, now()));
  }
}

std::vector<record::Timeline> World::timelines() const {
  base::check(ended_, "a timeline is complete once the world has ended");
  std::vector<record::Timeline> all;
  if (!recorder_) return all;
  for (const TimelineRecorder& tape : recorder_->tapes()) {
    record::Timeline& timeline = all.emplace_back(tape.timeline(start_s_));
    for (const int rank : timeline.ranks)
      timeline.rank_names.push_back(fmt::format("{} {} ({})", rank < workers_ ? "rank" : "server",
                                                rank < workers_ ? rank : rank - workers_,
                                                cluster_.host(host(rank))->get_name()));
  }
  return all;
}

Work World::work_of(int source, int target, Work otherwise) const {
  if (source < workers_ && target >= workers_) return Work::push;
  return source >= workers_ && target < workers_ ? Work::pull : otherwise;
}

void World::record_beside(int rank, const std::shared_ptr<Activity>& activity) {
  if (!recorder_ || !recorder_->running() || !recorder_->takes(rank)) return;
  Lane& lane = recorder_->new_lane(rank, &ranks_[static_cast<std::size_t>(rank)].step, false, now());
  activity->account.tell(&lane);
  recorder_->add_beside(lane, activity);
}

record::Message World::recorded(const Message& message, double now) const {
  const double start = message.transfer->get_start_time();
  const double finish = message.transfer->get_finish_time();
  return {.source = message.channel->source,
          .target = message.channel->target,
          .bytes = message.packet.bytes(),
          .step = message.step,
          .name = static_cast<int>(message.work),
          .start_s = start,
          .end_s = finish >= start ? finish : now};
}

namespace {

void add_untold(std::vector<Piece>& pieces, const Lane& lane, const Activity& activity, double now) {
  const auto transfer_start = [&] {
    return activity.occupation.transfer ? activity.occupation.transfer->get_start_time() : -1.0;
  };
  switch (activity.account.state()) {
    case Account::State::waiting:
      return lane.untold(pieces, record::Activity::wait, now);
    case Account::State::computing:
      return lane.untold(pieces, record::Activity::compute, now);
    case Account::State::communicating:
      return lane.untold(pieces, record::Activity::communicate, now);
    case Account::State::down:
      return lane.untold(pieces, record::Activity::down, now);
    case Account::State::blocked:
      return lane.untold_blocked(pieces, now, transfer_start());
  }
}

}  // namespace

std::vector<Piece> World::untold(const Rank& rank, double now) const {
  std::vector<Piece> pieces;
  const Lane& lane = *rank.account.lane();
  const Lane* const beside = rank.followed ? rank.followed->account.lane() : nullptr;
  if (beside) {
    std::vector<Piece> its = beside->kept();
    add_untold(its, *beside, *rank.followed, now);
    lane.untold(pieces, its);
  }
  add_untold(pieces, lane, rank, now);
  return pieces;
}

/// To a rank that is in the middle of receiving; the receiver sees the message at its end only.
std::int64_t World::bytes_coming(int rank) const {
  const Occupation& occupation = ranks_[static_cast<std::size_t>(rank)].occupation;
  for (const Message& message : messages_)
    if (message.transfer && !message.counted && message.channel->target == rank &&
        message.channel->source == occupation.peer && !message.channel->local &&
        message.transfer->get_start_time() >= 0.0)
      return message.packet.bytes();
  return 0;
}

/// What every recorded actor is in the middle of, and every message under way.
void World::tell_untold(TimelineRecorder& tape, double now) {
  const Meetings::UnderWay under_way = meetings_->under_way(now);
  for (const record::Message& message : under_way.messages) tape.take(message);
  for (int r = 0; r < size(); ++r) {
    const Rank& rank = ranks_[static_cast<std::size_t>(r)];
    if (!rank.account.lane() || !tape.takes(r)) continue;
    std::vector<Piece> pieces;
    if (const auto met = under_way.pieces.find(r); met != under_way.pieces.end()) {
      rank.account.lane()->untold(pieces, met->second);
      rank.account.lane()->untold(pieces, record::Activity::wait, now);
    } else {
      pieces = untold(rank, now);
      if (!pieces.empty() && rank.occupation.kind == Occupation::Kind::receiving)
        pieces.back().deed.bytes = bytes_coming(r);
    }
    for (const Piece& piece : pieces) recorder_->take(tape, *rank.account.lane(), piece);
  }
  for (const auto& [lane, known] : recorder_->beside()) {
    const std::shared_ptr<Activity> activity = known.lock();
    if (!activity || !activity->account.lane() || !tape.takes(lane->rank())) continue;
    std::vector<Piece> pieces;
    add_untold(pieces, *lane, *activity, now);
    for (const Piece& piece : pieces) recorder_->take(tape, *lane, piece);
  }
  for (const Message& message : messages_)
    if (message.transfer && !message.counted && !message.channel->local && message.transfer->get_start_time() >= 0.0)
      tape.take(recorded(message, now));
}

void World::finish(TimelineRecorder& tape) {
  if (!tape.running()) return;
  tell_untold(tape, now());
  tape.stop(now());
  if (recorder_->running()) return;
  for (Rank& rank : ranks_) rank.account.tell(nullptr);
  for (const auto& [lane, known] : recorder_->beside())
    if (const std::shared_ptr<Activity> activity = known.lock()) activity->account.tell(nullptr);
}

WorkScope::WorkScope(const Communicator& communicator, Work work)
    : communicator_(communicator), lane_(communicator.lane()) {
  if (!lane_) return;
  if (lane_->within() != Work::idle) {
    lane_ = nullptr;
    return;
  }
  tell_idle();
  lane_->set_within(work);
}

WorkScope::~WorkScope() {
  if (!lane_) return;
  tell_idle();
  lane_->set_within(Work::idle);
}

/// What was idle until now was so under the name it had.
void WorkScope::tell_idle() const {
  if (communicator_.lane() == lane_ && communicator_.idle()) lane_->tell(record::Activity::wait, communicator_.now());
  lane_->rest();
}

}  // namespace simgrad::cluster

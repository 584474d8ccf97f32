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

void World::start(const std::vector<TimelineLimits>& tapes) {
  base::check(!recorder_ && !ended_, "what is recorded is decided once, before the world begins");
  if (tapes.empty()) return;
  recorder_ = std::make_unique<Recorder>(
      tapes, workers_, servers_, [this] { return now(); }, [this](TimelineRecorder& tape) { finish(tape); });
  for (int rank = 0; rank < size(); ++rank) {
    Rank& each = ranks_[static_cast<std::size_t>(rank)];
    if (recorder_->takes(rank)) each.account.tell(&recorder_->new_track(rank, &each.step, true, now()));
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

void World::record_side_actor(int rank, const std::shared_ptr<ActorState>& activity) {
  if (!recorder_ || !recorder_->running() || !recorder_->takes(rank)) return;
  Track& track = recorder_->new_track(rank, &ranks_[static_cast<std::size_t>(rank)].step, false, now());
  activity->account.tell(&track);
  recorder_->add_beside(track, activity);
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

void add_unrecorded(std::vector<Interval>& intervals, const Track& track, const ActorState& activity, double now) {
  const auto transfer_start = [&] {
    return activity.blocked_on.transfer ? activity.blocked_on.transfer->get_start_time() : -1.0;
  };
  switch (activity.account.state()) {
    case Account::State::waiting:
      return track.untold(intervals, record::Activity::wait, now);
    case Account::State::computing:
      return track.untold(intervals, record::Activity::compute, now);
    case Account::State::communicating:
      return track.untold(intervals, record::Activity::communicate, now);
    case Account::State::down:
      return track.untold(intervals, record::Activity::down, now);
    case Account::State::blocked:
      return track.unrecorded_blocked(intervals, now, transfer_start());
  }
}

}  // namespace

std::vector<Interval> World::untold(const Rank& rank, double now) const {
  std::vector<Interval> intervals;
  const Track& track = *rank.account.track();
  const Track* const beside = rank.followed ? rank.followed->account.track() : nullptr;
  if (beside) {
    std::vector<Interval> its = beside->kept();
    add_unrecorded(its, *beside, *rank.followed, now);
    track.untold(intervals, its);
  }
  add_unrecorded(intervals, track, rank, now);
  return intervals;
}

/// To a rank that is in the middle of receiving; the receiver sees the message at its end only.
std::int64_t World::bytes_coming(int rank) const {
  const BlockedOn& blocked_on = ranks_[static_cast<std::size_t>(rank)].blocked_on;
  for (const Message& message : messages_)
    if (message.transfer && !message.counted && message.channel->target == rank &&
        message.channel->source == blocked_on.peer && !message.channel->local &&
        message.transfer->get_start_time() >= 0.0)
      return message.packet.bytes();
  return 0;
}

/// What every recorded actor is in the middle of, and every message under way.
void World::record_unrecorded(TimelineRecorder& tape, double now) {
  const ComputedCollectives::UnderWay under_way = computed_collectives_->under_way(now);
  for (const record::Message& message : under_way.messages) tape.take(message);
  for (int r = 0; r < size(); ++r) {
    const Rank& rank = ranks_[static_cast<std::size_t>(r)];
    if (!rank.account.track() || !tape.takes(r)) continue;
    std::vector<Interval> intervals;
    if (const auto met = under_way.intervals.find(r); met != under_way.intervals.end()) {
      rank.account.track()->untold(intervals, met->second);
      rank.account.track()->untold(intervals, record::Activity::wait, now);
    } else {
      intervals = untold(rank, now);
      if (!intervals.empty() && rank.blocked_on.kind == BlockedOn::Kind::receiving)
        intervals.back().label.bytes = bytes_coming(r);
    }
    for (const Interval& interval : intervals) recorder_->take(tape, *rank.account.track(), interval);
  }
  for (const auto& [track, known] : recorder_->beside()) {
    const std::shared_ptr<ActorState> activity = known.lock();
    if (!activity || !activity->account.track() || !tape.takes(track->rank())) continue;
    std::vector<Interval> intervals;
    add_unrecorded(intervals, *track, *activity, now);
    for (const Interval& interval : intervals) recorder_->take(tape, *track, interval);
  }
  for (const Message& message : messages_)
    if (message.transfer && !message.counted && !message.channel->local && message.transfer->get_start_time() >= 0.0)
      tape.take(recorded(message, now));
}

void World::finish(TimelineRecorder& tape) {
  if (!tape.running()) return;
  record_unrecorded(tape, now());
  tape.stop(now());
  if (recorder_->running()) return;
  for (Rank& rank : ranks_) rank.account.tell(nullptr);
  for (const auto& [track, known] : recorder_->beside())
    if (const std::shared_ptr<ActorState> activity = known.lock()) activity->account.tell(nullptr);
}

WorkScope::WorkScope(const Communicator& communicator, Work work)
    : communicator_(communicator), track_(communicator.track()) {
  if (!track_) return;
  if (track_->within() != Work::idle) {
    track_ = nullptr;
    return;
  }
  record_idle();
  track_->set_within(work);
}

WorkScope::~WorkScope() {
  if (!track_) return;
  record_idle();
  track_->set_within(Work::idle);
}

/// What was idle until now was so under the name it had.
void WorkScope::record_idle() const {
  if (communicator_.track() == track_ && communicator_.idle())
    track_->tell(record::Activity::wait, communicator_.now());
  track_->rest();
}

}  // namespace simgrad::cluster

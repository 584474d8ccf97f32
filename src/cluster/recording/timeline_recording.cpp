#include "cluster/recording/timeline_recording.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>

#include "base/errors.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

using record::Work;

namespace {

/// Appends what the actor is in the middle of.
void add_unrecorded(std::vector<Interval>& intervals, const Track& track, const ActorState& actor, double now) {
  switch (actor.account().state()) {
    case Account::State::waiting:
      return track.unrecorded(intervals, record::Activity::wait, now);
    case Account::State::computing:
      return track.unrecorded(intervals, record::Activity::compute, now);
    case Account::State::communicating:
      return track.unrecorded(intervals, record::Activity::communicate, now);
    case Account::State::down:
      return track.unrecorded(intervals, record::Activity::down, now);
    case Account::State::blocked:
      return track.unrecorded_blocked(intervals, now, transfer_start_s(actor.blocked_on().transfer));
  }
}

/// Adds the intervals of an actor that may be in a collective that is computed when all members have arrived.
void add_unrecorded(std::vector<Interval>& intervals, const Track& track, const ActorState& actor,
                    const UnfinishedCollectives& collectives, double now) {
  const auto found = collectives.intervals.find(&track);
  if (found == collectives.intervals.end()) return add_unrecorded(intervals, track, actor, now);
  track.unrecorded(intervals, found->second);
  track.unrecorded(intervals, record::Activity::wait, now);
}

/// Whether a message is on a wire, and no timeline has it yet.
bool on_its_way(const Message& message) {
  return !message.counted && message.transfer.start_s() >= 0.0 && !message.channel->local;
}

}  // namespace

TimelineRecording::TimelineRecording(World& world) : world_(world) {}

TimelineRecording::~TimelineRecording() = default;

void TimelineRecording::start(const std::vector<TimelineLimits>& timelines) {
  base::check(!recorder_ && !world_.ended(), "recording is decided on once, before the world begins");
  if (timelines.empty()) return;
  recorder_ = std::make_unique<Recorder>(
      timelines, world_.size(), world_.workers(), world_.stand_ins(), [this] { return world_.now(); },
      [this](TimelineRecorder& timeline) { finish(timeline); });
  for (int rank = 0; rank < world_.size(); ++rank)
    if (recorder_->takes(rank))
      world_.timekeeper().main(rank).record_on(
          &recorder_->new_track(rank, world_.ranks().step_in_place(rank), true, world_.now()));
}

bool TimelineRecording::running() const { return recorder_ && recorder_->running(); }

std::vector<record::Timeline> TimelineRecording::timelines() const {
  base::check(world_.ended(), "a timeline is complete once the world has ended");
  std::vector<record::Timeline> all;
  if (!recorder_) return all;
  for (const TimelineRecorder& timeline : recorder_->timelines()) {
    record::Timeline& held = all.emplace_back(timeline.timeline(world_.start_s()));
    for (const int rank : held.ranks) {
      const bool worker = rank < world_.workers();
      held.rank_names.push_back(fmt::format("{} {} ({})", worker ? "rank" : "server",
                                            worker ? rank : rank - world_.workers(),
                                            world_.cluster().host(world_.host(rank))->get_name()));
    }
  }
  return all;
}

Work TimelineRecording::transfer_work(int source, int target, Work otherwise) const {
  const int workers = world_.workers();
  if (source < workers && target >= workers) return Work::push;
  return source >= workers && target < workers ? Work::pull : otherwise;
}

void TimelineRecording::add_side_actor(int rank, const std::shared_ptr<ActorState>& actor) {
  if (!running() || !recorder_->takes(rank)) return;
  Track& track = recorder_->new_track(rank, world_.ranks().step_in_place(rank), false, world_.now());
  actor->record_on(&track);
  recorder_->add_side_actor(track, actor);
}

void TimelineRecording::take(const Message& message) { recorder_->take(recorded(message, world_.now())); }

record::TimedMessage TimelineRecording::recorded(const Message& message, double now) const {
  const double start = message.transfer.start_s();
  const double finish = message.transfer.finish_s();
  return {.source = message.channel->source,
          .target = message.channel->target,
          .bytes = message.packet.bytes(),
          .step = message.step,
          .name = static_cast<int>(message.work),
          .start_s = start,
          .end_s = finish >= start ? finish : now};
}

std::vector<Interval> TimelineRecording::unrecorded(int rank, const UnfinishedCollectives& collectives,
                                                    double now) const {
  std::vector<Interval> intervals;
  const Timekeeper& timekeeper = world_.timekeeper();
  const ActorState& main = timekeeper.main(rank);
  const ActorState* const side = timekeeper.followed(rank);
  if (side && side->track()) {
    std::vector<Interval> side_intervals = side->track()->buffered(now);
    add_unrecorded(side_intervals, *side->track(), *side, collectives, now);
    main.track()->unrecorded(intervals, side_intervals);
  }
  add_unrecorded(intervals, *main.track(), main, collectives, now);
  return intervals;
}

/// Bytes to a rank that is in the middle of receiving; the receiver sees the message at its end only.
std::int64_t TimelineRecording::bytes_coming(int rank) const {
  const int source = world_.timekeeper().main(rank).blocked_on().peer;
  for (const Message& message : world_.messenger().messages())
    if (on_its_way(message) && message.channel->target == rank && message.channel->source == source)
      return message.packet.bytes();
  return 0;
}

void TimelineRecording::record_unfinished_ranks(TimelineRecorder& timeline, const UnfinishedCollectives& collectives,
                                                double now) {
  for (int rank = 0; rank < world_.size(); ++rank) {
    const ActorState& main = world_.timekeeper().main(rank);
    if (!main.track() || !timeline.takes(rank)) continue;
    std::vector<Interval> intervals = unrecorded(rank, collectives, now);
    if (!intervals.empty() && main.blocked_on().kind == BlockedOn::Kind::receiving)
      intervals.back().label.bytes = bytes_coming(rank);
    for (const Interval& interval : intervals) recorder_->take(timeline, *main.track(), interval);
  }
}

/// Whatever every recorded actor is in the middle of, and every message under way.
void TimelineRecording::record_unfinished(TimelineRecorder& timeline, double now) {
  const UnfinishedCollectives collectives = world_.computed_collectives().unfinished(now);
  for (const record::TimedMessage& message : collectives.messages) timeline.take(message);
  record_unfinished_ranks(timeline, collectives, now);
  for (const SideTrack& side : recorder_->side_actors()) {
    const std::shared_ptr<ActorState> actor = side.actor.lock();
    if (!actor || !actor->track() || !timeline.takes(side.track->rank())) continue;
    std::vector<Interval> intervals;
    add_unrecorded(intervals, *side.track, *actor, collectives, now);
    for (const Interval& interval : intervals) recorder_->take(timeline, *side.track, interval);
  }
  for (const Message& message : world_.messenger().messages())
    if (on_its_way(message)) timeline.take(recorded(message, now));
}

void TimelineRecording::finish(TimelineRecorder& timeline) {
  if (!timeline.running()) return;
  record_unfinished(timeline, world_.now());
  timeline.stop(world_.now());
  if (recorder_->running()) return;
  for (int rank = 0; rank < world_.size(); ++rank) world_.timekeeper().main(rank).record_on(nullptr);
  for (const SideTrack& side : recorder_->side_actors())
    if (const std::shared_ptr<ActorState> actor = side.actor.lock()) actor->record_on(nullptr);
}

void TimelineRecording::finish() {
  if (!recorder_) return;
  for (TimelineRecorder& timeline : recorder_->timelines()) finish(timeline);
}

}  // namespace simgrad::cluster

/// Computed collectives as a timeline shows them: every message, as if each had been sent.
#include <algorithm>
#include <cmath>
#include <span>

#include "cluster/computed/collective_group.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/recorder.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

namespace {

/// Collects the intervals and messages of a group's members that are recorded.
class Intervals final : public TimingObserver {
 public:
  Intervals(const World& world, const std::vector<int>& members, base::ByRank<Track*> tracks, std::size_t room)
      : world_(world), members_(members), tracks_(std::move(tracks)), intervals_(tracks_.size()), room_(room) {}

  void computes(int member, double from_s, double to_s) override {
    add(member, {record::Activity::compute, {.work = record::Work::reduce}, from_s, to_s});
  }
  void communicates(int member, int peer, std::int64_t bytes, double from_s, double to_s) override {
    const Track* track = tracks_[member];
    if (track) add(member, {record::Activity::communicate, {track->within(), rank(peer), bytes}, from_s, to_s});
  }
  void sends(int source, int target, std::int64_t bytes, double start_s, double end_s) override {
    const Track* track = tracks_[source];
    if (!track || !tracks_[target] || world_.same_host(rank(source), rank(target))) return;
    messages.push_back(
        {rank(source), rank(target), bytes, track->step(), static_cast<int>(track->within()), start_s, end_s});
  }
  bool enough() const override { return taken_ > room_; }

  const std::vector<Interval>& of(int member) const { return intervals_[member]; }

  std::vector<record::TimedMessage> messages;

 private:
  int rank(int member) const { return members_[static_cast<std::size_t>(member)]; }
  void add(int member, const Interval& interval) {
    if (!tracks_[member] || !(interval.to_s > interval.from_s)) return;
    intervals_[member].push_back(interval);
    ++taken_;
  }

  const World& world_;
  const std::vector<int>& members_;
  base::ByRank<Track*> tracks_;
  base::ByRank<std::vector<Interval>> intervals_;
  std::size_t room_;
  std::size_t taken_ = 0;
};

/// By member of the part; null: the member has not come, or is not recorded.
base::ByRank<Track*> tracks_of(const PlannedPart& part, const std::vector<ActorState*>& actors,
                               const std::vector<std::shared_ptr<const ActorState>>& gone) {
  base::ByRank<Track*> tracks;
  for (std::size_t m = 0; m < part.group->members->size(); ++m) {
    const std::size_t position = part.position(m);
    const ActorState* const actor = actors[position] ? actors[position] : gone[position].get();
    tracks.push_back(actor ? actor->track() : nullptr);
  }
  return tracks;
}

bool any(const base::ByRank<Track*>& tracks) {
  return std::ranges::any_of(tracks, [](const Track* track) { return track != nullptr; });
}

/// Names the cause of each wait of a member: it waits for the last one to arrive, and then for the others' transfers.
void add_causes(std::span<Interval> intervals, const Lateness& lateness, double arrival_s,
                const SinceCollective& since) {
  const double late_s = std::max(lateness.last_s - arrival_s, 0.0);
  const record::TimePart late = record::longest_wait(lateness.causes(arrival_s, since, late_s));
  for (Interval& interval : intervals) {
    if (interval.kind != record::Activity::wait) continue;
    const bool for_the_last = lateness.last_s - interval.from_s > 0.5 * (interval.to_s - interval.from_s);
    interval.cause = for_the_last ? late : record::TimePart::wait_transfer;
  }
}

}  // namespace

/// A collective that is complete, as far as nothing can happen to it.
void ComputedCollectives::record_ahead(Collective& collective) const {
  double until_s = CollectiveTiming::uncut;
  const double disturbed_s = std::max(world_.cluster().next_callback_s(), std::nextafter(world_.now(), until_s));
  const bool may_break = hosts_may_fail_ && collective.plan->knows_deaths;
  for (std::size_t m = 0; m < collective.actors.size() && may_break; ++m)
    if (collective.times->of(m).end_s >= disturbed_s) until_s = disturbed_s;
  record(collective, *collective.times, until_s, Ending::nobody);
}

/// Spans and messages that are over before that time, and those of the rest whose member's time ends then.
void ComputedCollectives::record(Collective& collective, const CollectiveTimes& times, double until_s,
                                 int ending) const {
  const double before_s = std::exchange(collective.recorded_until_s, until_s);
  if (!world_.recording().running() ||
      std::ranges::none_of(collective.actors, [](const ActorState* actor) { return actor && actor->track(); }))
    return;
  Recorder& recorder = world_.recording().recorder();
  double complete_until_s = CollectiveTiming::uncut;
  std::vector<std::vector<Interval>> intervals(collective.actors.size());  // by member
  std::vector<record::TimedMessage> messages;
  times.each([&](const PlannedPart& part, const PartTimes& part_times) {
    const base::ByRank<Track*> tracks = tracks_of(part, collective.actors, collective.before_leaving);
    if (!any(tracks)) return;
    Intervals found(world_, *part.group->members, tracks, recorder.room());
    const double shown_s = part.timing->show(part_times.costs(part), part_times.arrivals, until_s, found);
    if (shown_s < until_s) complete_until_s = std::min(complete_until_s, shown_s);
    for (int m = 0; m < tracks.size(); ++m) {
      if (!tracks[m]) continue;
      const auto member = static_cast<std::size_t>(m);
      const std::size_t position = part.position(member);
      if (!collective.actors[position]) continue;
      std::vector<Interval>& all = intervals[position];
      const std::size_t already = all.size();
      std::vector<Interval> over = found.of(m);
      if (ending != Ending::all && ending != static_cast<int>(position))
        std::erase_if(over, [&](const Interval& interval) { return interval.to_s >= until_s; });
      tracks[m]->unrecorded(all, over);
      const double arrival_s = part_times.arrivals[member];
      const bool first = arrival_s == collective.arrivals[position];
      add_causes(std::span(all).subspan(already), part_times.lateness, arrival_s,
                 first ? collective.since[position] : SinceCollective{arrival_s, {}});
    }
    for (const record::TimedMessage& message : found.messages)
      if (message.end_s >= before_s && (ending == Ending::all || message.end_s < until_s)) messages.push_back(message);
  });
  std::vector<std::pair<Track*, Interval>> all;
  for (std::size_t m = 0; m < intervals.size(); ++m)
    for (const Interval& interval : intervals[m]) all.emplace_back(collective.actors[m]->track(), interval);
  recorder.take(all, messages, complete_until_s);
}

UnfinishedCollectives ComputedCollectives::unfinished(double now) const {
  UnfinishedCollectives all_found;
  const auto find = [&](const Collective& collective, const CollectiveTimes& times) {
    times.each([&](const PlannedPart& part, const PartTimes& part_times) {
      const base::ByRank<Track*> tracks = tracks_of(part, collective.actors, collective.before_leaving);
      if (!any(tracks)) return;
      Intervals found(world_, *part.group->members, tracks, std::numeric_limits<std::size_t>::max());
      part.timing->show(part_times.costs(part), part_times.arrivals, now, found);
      for (int m = 0; m < tracks.size(); ++m) {
        if (!tracks[m] || !collective.actors[part.position(static_cast<std::size_t>(m))]) continue;
        std::vector<Interval>& all = all_found.intervals[tracks[m]];
        all.insert(all.end(), found.of(m).begin(), found.of(m).end());
      }
      for (const record::TimedMessage& message : found.messages)
        if (message.start_s < now && message.end_s >= collective.recorded_until_s)
          all_found.messages.push_back(message);
    });
  };
  for (const auto& [key, all] : groups_)
    for (const std::shared_ptr<Collective>& collective : all->live)
      if (collective == all->open)
        find(*collective, times(*all, *collective, now));
      else if (collective->recorded_until_s < CollectiveTiming::uncut)
        find(*collective, *collective->times);
  return all_found;
}

}  // namespace simgrad::cluster

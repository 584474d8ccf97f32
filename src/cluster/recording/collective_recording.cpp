/// Computed collectives as a timeline shows them: every message, as if each had been sent.
#include "cluster/computed/collective_group.h"
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

base::ByRank<Track*> tracks_of(const World& world, const std::vector<int>& members) {
  base::ByRank<Track*> tracks;
  for (const int rank : members) tracks.push_back(world.timekeeper().main(rank).track());
  return tracks;
}

/// Names the cause of each wait of a member: it waits for the last one to arrive, and then for the others' transfers.
void add_causes(std::vector<Interval>& intervals, const Lateness& lateness, double arrival_s,
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

void ComputedCollectives::record(const Group& all, const Collective& collective) const {
  const base::ByRank<Track*> tracks = tracks_of(world_, *all.members);
  if (std::ranges::none_of(tracks, [](const Track* track) { return track != nullptr; })) return;
  Recorder& recorder = world_.recording().recorder();
  Intervals found(world_, *all.members, tracks, recorder.room());
  const double complete_until_s =
      collective.timing->show(collective.costs, collective.arrivals, CollectiveTiming::uncut, found);
  std::vector<std::pair<Track*, Interval>> intervals;
  for (int m = 0; m < tracks.size(); ++m) {
    if (!tracks[m]) continue;
    std::vector<Interval> its;
    tracks[m]->unrecorded(its, found.of(m));
    const auto member = static_cast<std::size_t>(m);
    add_causes(its, collective.lateness, collective.arrivals[member], collective.since[member]);
    for (const Interval& interval : its) intervals.emplace_back(tracks[m], interval);
  }
  recorder.take(intervals, found.messages, complete_until_s);
}

ComputedCollectives::Unfinished ComputedCollectives::unfinished(double now) const {
  Unfinished all_found;
  for (const auto& [key, all] : groups_) {
    if (!all->open) continue;
    const base::ByRank<Track*> tracks = tracks_of(world_, *all->members);
    Intervals found(world_, *all->members, tracks, std::numeric_limits<std::size_t>::max());
    all->open->timing->show(all->open->costs, all->open->arrivals, now, found);
    for (int m = 0; m < tracks.size(); ++m)
      if (tracks[m] && all->open->inside[m])
        all_found.intervals[(*all->members)[static_cast<std::size_t>(m)]] = found.of(m);
    for (const record::TimedMessage& message : found.messages)
      if (message.start_s < now) all_found.messages.push_back(message);
  }
  return all_found;
}

}  // namespace simgrad::cluster

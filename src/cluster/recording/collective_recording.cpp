/// Computed collectives as a timeline shows them: every message, as if each had been sent.
#include "cluster/computed/collective_group.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

namespace {

/// Of a group's members that are recorded.
class Pieces final : public TimingObserver {
 public:
  Pieces(const World& world, const std::vector<int>& members, std::vector<Track*> tracks, std::size_t room)
      : world_(world), members_(members), tracks_(std::move(tracks)), intervals_(members.size()), room_(room) {}

  void computes(int member, double from_s, double to_s) override {
    add(member, {record::Activity::compute, {.work = record::Work::reduce}, from_s, to_s});
  }
  void communicates(int member, int peer, std::int64_t bytes, double from_s, double to_s) override {
    const Track* track = tracks_[static_cast<std::size_t>(member)];
    if (track) add(member, {record::Activity::communicate, {track->within(), rank(peer), bytes}, from_s, to_s});
  }
  void sends(int source, int target, std::int64_t bytes, double start_s, double end_s) override {
    const Track* track = tracks_[static_cast<std::size_t>(source)];
    if (!track || !tracks_[static_cast<std::size_t>(target)] || world_.same_host(rank(source), rank(target))) return;
    messages.push_back(
        {rank(source), rank(target), bytes, track->step(), static_cast<int>(track->within()), start_s, end_s});
  }
  bool enough() const override { return told_ > room_; }

  const std::vector<Interval>& intervals(std::size_t member) const { return intervals_[member]; }
  Track* track(std::size_t member) const { return tracks_[member]; }

  std::vector<record::Message> messages;

 private:
  int rank(int member) const { return members_[static_cast<std::size_t>(member)]; }
  void add(int member, const Interval& interval) {
    if (!tracks_[static_cast<std::size_t>(member)] || !(interval.to_s > interval.from_s)) return;
    intervals_[static_cast<std::size_t>(member)].push_back(interval);
    ++told_;
  }

  const World& world_;
  const std::vector<int>& members_;
  std::vector<Track*> tracks_;
  std::vector<std::vector<Interval>> intervals_;
  std::size_t room_;
  std::size_t told_ = 0;
};

}  // namespace

void ComputedCollectives::tell(const Group& all, const Collective& meeting) {
  std::vector<Track*> tracks;
  for (const int rank : *all.members) tracks.push_back(world_.ranks_[static_cast<std::size_t>(rank)].account.track());
  if (std::ranges::none_of(tracks, [](const Track* track) { return track != nullptr; })) return;
  Pieces told(world_, *all.members, tracks, world_.recorder_->room());
  const double complete_until_s = meeting.course->show(all.costs, meeting.arrivals, CollectiveTiming::uncut, told);
  std::vector<std::pair<Track*, Interval>> intervals;
  for (std::size_t m = 0; m < tracks.size(); ++m) {
    if (!tracks[m]) continue;
    std::vector<Interval> its;
    tracks[m]->untold(its, told.intervals(m));
    for (const Interval& interval : its) intervals.emplace_back(tracks[m], interval);
  }
  world_.recorder_->take(intervals, told.messages, complete_until_s);
}

ComputedCollectives::UnderWay ComputedCollectives::under_way(double now) const {
  UnderWay found;
  for (const auto& [key, all] : groups_) {
    if (!all->open) continue;
    std::vector<Track*> tracks;
    for (const int rank : *all->members)
      tracks.push_back(world_.ranks_[static_cast<std::size_t>(rank)].account.track());
    Pieces told(world_, *all->members, tracks, std::numeric_limits<std::size_t>::max());
    all->open->course->show(all->costs, all->open->arrivals, now, told);
    for (std::size_t m = 0; m < tracks.size(); ++m)
      if (tracks[m] && all->open->inside[m]) found.intervals[(*all->members)[m]] = told.intervals(m);
    for (const record::Message& message : told.messages)
      if (message.start_s < now) found.messages.push_back(message);
  }
  return found;
}

}  // namespace simgrad::cluster

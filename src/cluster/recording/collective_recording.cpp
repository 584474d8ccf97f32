/// Computed collectives as a timeline shows them: every message, as if each had been sent.
#include "cluster/computed/collective_group.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

namespace {

/// Of a group's members that are recorded.
class Pieces final : public CourseObserver {
 public:
  Pieces(const World& world, const std::vector<int>& members, std::vector<Lane*> lanes, std::size_t room)
      : world_(world), members_(members), lanes_(std::move(lanes)), pieces_(members.size()), room_(room) {}

  void computes(int member, double from_s, double to_s) override {
    add(member, {record::Activity::compute, {.work = record::Work::reduce}, from_s, to_s});
  }
  void communicates(int member, int peer, std::int64_t bytes, double from_s, double to_s) override {
    const Lane* lane = lanes_[static_cast<std::size_t>(member)];
    if (lane) add(member, {record::Activity::communicate, {lane->within(), rank(peer), bytes}, from_s, to_s});
  }
  void sends(int source, int target, std::int64_t bytes, double start_s, double end_s) override {
    const Lane* lane = lanes_[static_cast<std::size_t>(source)];
    if (!lane || !lanes_[static_cast<std::size_t>(target)] || world_.same_host(rank(source), rank(target))) return;
    messages.push_back(
        {rank(source), rank(target), bytes, lane->step(), static_cast<int>(lane->within()), start_s, end_s});
  }
  bool enough() const override { return told_ > room_; }

  const std::vector<Piece>& pieces(std::size_t member) const { return pieces_[member]; }
  Lane* lane(std::size_t member) const { return lanes_[member]; }

  std::vector<record::Message> messages;

 private:
  int rank(int member) const { return members_[static_cast<std::size_t>(member)]; }
  void add(int member, const Piece& piece) {
    if (!lanes_[static_cast<std::size_t>(member)] || !(piece.to_s > piece.from_s)) return;
    pieces_[static_cast<std::size_t>(member)].push_back(piece);
    ++told_;
  }

  const World& world_;
  const std::vector<int>& members_;
  std::vector<Lane*> lanes_;
  std::vector<std::vector<Piece>> pieces_;
  std::size_t room_;
  std::size_t told_ = 0;
};

}  // namespace

void Meetings::tell(const Group& all, const Meeting& meeting) {
  std::vector<Lane*> lanes;
  for (const int rank : *all.members) lanes.push_back(world_.ranks_[static_cast<std::size_t>(rank)].account.lane());
  if (std::ranges::none_of(lanes, [](const Lane* lane) { return lane != nullptr; })) return;
  Pieces told(world_, *all.members, lanes, world_.recorder_->room());
  const double complete_until_s = meeting.course->show(all.fabric, meeting.arrivals, Course::uncut, told);
  std::vector<std::pair<Lane*, Piece>> pieces;
  for (std::size_t m = 0; m < lanes.size(); ++m) {
    if (!lanes[m]) continue;
    std::vector<Piece> its;
    lanes[m]->untold(its, told.pieces(m));
    for (const Piece& piece : its) pieces.emplace_back(lanes[m], piece);
  }
  world_.recorder_->take(pieces, told.messages, complete_until_s);
}

Meetings::UnderWay Meetings::under_way(double now) const {
  UnderWay found;
  for (const auto& [key, all] : groups_) {
    if (!all->open) continue;
    std::vector<Lane*> lanes;
    for (const int rank : *all->members) lanes.push_back(world_.ranks_[static_cast<std::size_t>(rank)].account.lane());
    Pieces told(world_, *all->members, lanes, std::numeric_limits<std::size_t>::max());
    all->open->course->show(all->fabric, all->open->arrivals, now, told);
    for (std::size_t m = 0; m < lanes.size(); ++m)
      if (lanes[m] && all->open->inside[m]) found.pieces[(*all->members)[m]] = told.pieces(m);
    for (const record::Message& message : told.messages)
      if (message.start_s < now) found.messages.push_back(message);
  }
  return found;
}

}  // namespace simgrad::cluster

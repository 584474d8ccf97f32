#include "cluster/computed/computed_collectives.h"

#include <algorithm>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "cluster/computed/collective_group.h"
#include "cluster/computed/collective_log.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;
using values::Tensor;

double CollectiveTiming::alone_s(const AlphaBetaGamma& costs, std::size_t members) const {
  return last_end_s(timings(costs, std::vector(members, 0.0), uncut));
}

double last_end_s(std::span<const MemberTiming> timings) {
  return std::ranges::max(timings, {}, &MemberTiming::end_s).end_s;
}

ComputedCollectives::~ComputedCollectives() = default;

ComputedCollectives::Group& ComputedCollectives::group(const Members& members, int generation) {
  const auto known = known_.find({generation, members.get()});
  if (known != known_.end()) return *known->second;
  std::shared_ptr<Group>& found = groups_[{generation, *members}];
  if (found) return *found;
  found = std::make_shared<Group>();
  found->members = members;  // kept, so that no other communicator's members come to lie at their place
  known_[{generation, members.get()}] = found.get();
  const Options& options = world_.cluster().options();
  found->costs.latency_s = options.host_spec.latency_s;
  found->costs.bandwidth_bytes_per_s = options.host_spec.bandwidth_bytes_per_s * options.efficiency;
  if (options.flow_limit_bytes_per_s) found->costs.flow_limit_bytes_per_s = *options.flow_limit_bytes_per_s;
  for (const int rank : *members) {
    const double speed = world_.cluster().speed(world_.host(rank)) * world_.relative_speed(rank);
    found->costs.seconds_per_flop.push_back(options.charge_reductions ? 1.0 / speed : 0.0);
    found->wake.push_back(sg4::Semaphore::create(0));
  }
  return *found;
}

Tensor ComputedCollectives::attend(const Members& members, int generation, int position,
                                   const std::function<std::shared_ptr<const CollectiveTiming>()>& course,
                                   Tensor brought) {
  Group& all = group(members, generation);
  if (!all.open) {
    all.open = std::make_shared<Collective>(course(), members->size());
    all.live.push_back(all.open);
  }
  const std::shared_ptr<Collective> meeting = all.open;
  const auto self = static_cast<std::size_t>(position);
  World::Rank& rank = world_.ranks_[static_cast<std::size_t>((*members)[self])];
  rank.account.enter(Account::State::blocked, world_.now());
  rank.blocked_on = {.kind = BlockedOn::Kind::meeting};
  rank.shows({});
  meeting->arrivals[self] = world_.now();
  if (brought) meeting->bytes = std::max(meeting->bytes, brought.size_bytes());
  meeting->tensors[self] = std::move(brought);
  meeting->inside[self] = true;
  if (++meeting->come == members->size()) complete(all, meeting);
  all.wake[self]->acquire();
  meeting->inside[self] = false;
  const MemberTiming& timing = meeting->timings[self];
  rank.account.leave_collective(world_.now(), timing.compute_s, timing.communicate_s);
  rank.blocked_on = {};
  if (++meeting->gone == members->size()) {
    auto& [example, times] = all.over[meeting->course->signature()];
    example = meeting->course;
    ++times;
    log(all, generation, *meeting);
    std::erase(all.live, meeting);
  }
  return std::move(meeting->tensors[self]);
}

void ComputedCollectives::complete(Group& all, const std::shared_ptr<Collective>& meeting) {
  all.open.reset();
  meeting->timings = meeting->course->timings(all.costs, meeting->arrivals, CollectiveTiming::uncut);
  if (world_.recorder_ && world_.recorder_->running()) tell(all, *meeting);
  meeting->tensors = meeting->course->results(std::move(meeting->tensors));
  for (const int rank : *all.members) world_.ranks_[static_cast<std::size_t>(rank)].blocked_on.complete = true;
  // One timer for neighbours who go on together, as they mostly do.
  const std::vector<MemberTiming>& timings = meeting->timings;
  for (std::size_t first = 0; first < timings.size();) {
    std::size_t last = first;
    while (last < timings.size() && timings[last].end_s == timings[first].end_s) ++last;
    const std::vector<sg4::SemaphorePtr> sleepers(all.wake.begin() + static_cast<std::ptrdiff_t>(first),
                                                  all.wake.begin() + static_cast<std::ptrdiff_t>(last));
    Timer::set(std::max(timings[first].end_s, world_.now()), [sleepers] {
      for (const sg4::SemaphorePtr& sleeper : sleepers) sleeper->release();
    });
    first = last;
  }
}

void ComputedCollectives::log(const Group& all, int generation, const Collective& meeting) {
  const auto members = static_cast<double>(all.members->size());
  const double mean_s = std::accumulate(meeting.arrivals.begin(), meeting.arrivals.end(), 0.0) / members;
  const auto alone_s = [&] { return meeting.course->alone_s(all.costs, all.members->size()); };
  world_.collectives_->calls(all.members, generation, meeting.course->name(), meeting.bytes, alone_s)
      .add(mean_s, std::ranges::max(meeting.arrivals), last_end_s(meeting.timings));
}

void ComputedCollectives::carry(const Group& all, const SentByPair& loads, std::int64_t times) {
  for (const auto& [ends, load] : loads) {
    Sent& sum = carried_[{(*all.members)[static_cast<std::size_t>(ends.first)],
                          (*all.members)[static_cast<std::size_t>(ends.second)]}];
    sum.bytes += times * load.bytes;
    sum.messages += times * load.messages;
  }
}

void ComputedCollectives::cut(double now) {
  for (const auto& [key, all] : groups_)
    for (const std::shared_ptr<Collective>& meeting : all->live) {
      const std::vector<MemberTiming> timings = meeting->course->timings(all->costs, meeting->arrivals, now);
      for (std::size_t m = 0; m < timings.size(); ++m)
        if (meeting->inside[m])
          world_.ranks_[static_cast<std::size_t>((*all->members)[m])].account.leave_collective(
              now, timings[m].compute_s, timings[m].communicate_s);
      carry(*all, meeting->course->loads(all->costs, meeting->arrivals, now), 1);
    }
  dissolve();
}

void ComputedCollectives::dissolve() {
  for (const auto& [key, all] : groups_) {
    all->open.reset();
    all->live.clear();
  }
}

const SentByPair& ComputedCollectives::carried() {
  for (const auto& [key, all] : groups_) {
    const std::vector<double> at_once(all->members->size(), 0.0);
    for (const auto& [signature, course] : all->over)
      carry(*all, course.first->loads(all->costs, at_once, CollectiveTiming::uncut), course.second);
    all->over.clear();
  }
  return carried_;
}

}  // namespace simgrad::cluster

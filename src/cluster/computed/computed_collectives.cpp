#include "cluster/computed/computed_collectives.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "cluster/computed/collective_group.h"
#include "cluster/computed/collective_log.h"
#include "cluster/computed/contention_check.h"
#include "cluster/computed/idle_costs.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "cluster/usage/traffic.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;
using values::Tensor;

double CollectiveTiming::alone_s(const AlphaBetaGamma& costs, std::size_t members) const {
  return last_end_s(timings(costs, std::vector(members, 0.0), uncut));
}

Until::Until(std::vector<double> each) : all_(std::ranges::max(each)), each_(std::move(each)) {}

double last_end_s(std::span<const MemberTiming> timings) {
  return std::ranges::max(timings, {}, &MemberTiming::end_s).end_s;
}

ComputedCollectives::ComputedCollectives(World& world) : world_(world) {
  const Options& options = world.cluster().options();
  if (options.computes_collectives() && !options.alike_routes()) contention_ = std::make_unique<ContentionCheck>(world);
}

ComputedCollectives::~ComputedCollectives() = default;

void ComputedCollectives::message(int source, int target, bool side) const {
  if (contention_) contention_->message(source, target, side);
}

ComputedCollectives::Group& ComputedCollectives::group(const Members& members, int generation) {
  const auto known = known_.find({generation, members.get()});
  if (known != known_.end()) return *known->second;
  std::shared_ptr<Group>& found = groups_[{generation, *members}];
  if (found) return *found;
  found = std::make_shared<Group>();
  found->members = members;  // kept, so that no other communicator's members come to lie at their place
  found->number = static_cast<int>(groups_.size());
  found->idle = found->apart = idle_costs(world_, *members);
  if (contention_) found->apart.routes = contention_->routes(members);
  found->sharing = found->apart;
  found->sharing.flows_share_links = true;
  for (std::size_t m = 0; m < members->size(); ++m) found->wake.push_back(sg4::Semaphore::create(0));
  known_[{generation, members.get()}] = found.get();
  return *found;
}

/// The costs of a collective, by whether its transfers share links.
const AlphaBetaGamma& ComputedCollectives::costs(Group& group, const CollectiveTiming& timing) const {
  if (!contention_) return group.apart;
  const std::string signature = timing.signature();
  if (const auto known = group.decided.find(signature); known != group.decided.end()) return *known->second;
  const std::vector at_once(group.members->size(), 0.0);
  const auto decision = contention_->claim(group.number, *group.members, *group.apart.routes,
                                           timing.sent(group.apart, at_once, CollectiveTiming::uncut));
  if (decision.share_links && !timing.may_share_links()) contention_->give_up(decision.meeting_on);
  if (group.meeting_on.empty()) group.meeting_on = decision.meeting_on;
  const AlphaBetaGamma& decided = decision.share_links ? group.sharing : group.apart;
  group.decided[signature] = &decided;
  return decided;
}

Tensor ComputedCollectives::take_part(const Members& members, int generation, int position, const MakeTiming& make,
                                      Tensor brought) {
  Group& all = group(members, generation);
  if (!all.open) {
    const std::shared_ptr<const CollectiveTiming> timing = make();
    all.open = std::make_shared<Collective>(timing, costs(all, *timing), static_cast<int>(members->size()));
    all.live.push_back(all.open);
  }
  const std::shared_ptr<Collective> collective = all.open;
  const auto self = static_cast<std::size_t>(position);
  {
    BlockedScope blocked(world_.cluster(), &world_.timekeeper().main(all.world_rank(self)),
                         {.kind = BlockedOn::Kind::collective});
    blocked.label({});
    collective->arrivals[self] = world_.now();
    collective->since[self] = world_.timekeeper().main(all.world_rank(self)).since_collective(world_.now());
    if (brought) collective->bytes = std::max(collective->bytes, brought.size_bytes());
    collective->tensors[self] = std::move(brought);
    collective->inside[position] = true;
    if (std::cmp_equal(++collective->arrived, members->size())) complete(all, *collective, self);
    all.wake[self]->acquire();
    collective->inside[position] = false;
    const MemberTiming& timing = collective->timings[self];
    const double arrival_s = collective->arrivals[self];
    const double wait_s = world_.now() - arrival_s - timing.compute_s - timing.communicate_s;
    blocked.divided(timing.compute_s, timing.communicate_s,
                    collective->lateness.causes(arrival_s, collective->since[self], wait_s));
  }
  if (std::cmp_equal(++collective->left, members->size())) {
    count(all, generation, *collective);
    std::erase(all.live, collective);
  }
  return std::move(collective->tensors[self]);
}

void ComputedCollectives::complete(Group& all, Collective& collective, std::size_t arriver) const {
  all.open.reset();
  collective.lateness = {world_.now(), collective.since[arriver]};
  // Transfers that may meet those of the collective before must not begin before it has ended.
  if (!all.meeting_on.empty() &&
      std::ranges::min(collective.arrivals) < all.busy_until_s - 1e-12 - 4e-16 * all.busy_until_s)
    contention_->give_up(all.meeting_on);
  collective.timings = collective.timing->timings(collective.costs, collective.arrivals, CollectiveTiming::uncut);
  all.busy_until_s = last_end_s(collective.timings);
  if (world_.recording().running()) record(all, collective);
  collective.tensors = collective.timing->results(std::move(collective.tensors));
  for (const int rank : *all.members) world_.timekeeper().main(rank).ends_by_itself();
  // One timer for neighbours who go on at the same time, as they mostly do.
  const std::vector<MemberTiming>& timings = collective.timings;
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

void ComputedCollectives::count(Group& all, int generation, const Collective& collective) const {
  Group::Times& over = all.over[collective.timing->signature()];
  over.timing = collective.timing;
  if (over.times++ == 0)
    for (const auto& [ends, sent] : over.timing->sent(all.apart, collective.arrivals, CollectiveTiming::uncut))
      over.bytes += sent.bytes;
  world_.traffic().count(over.bytes);
  for (std::size_t m = 0; m < collective.timings.size(); ++m)
    if (const double a_flop_s = all.apart.seconds_per_flop[m]; a_flop_s > 0.0)
      world_.ranks().count_flops(std::round(collective.timings[m].compute_s / a_flop_s));
  const auto members = static_cast<double>(all.members->size());
  const double mean_s = std::accumulate(collective.arrivals.begin(), collective.arrivals.end(), 0.0) / members;
  const auto alone_s = [&] { return collective.timing->alone_s(all.idle, all.members->size()); };
  world_.collective_log()
      .calls(all.members, generation, collective.timing->name(), collective.bytes, alone_s)
      .add(mean_s, std::ranges::max(collective.arrivals), last_end_s(collective.timings));
}

ComputedCollectives::Way ComputedCollectives::way() const {
  Way way = Way::none;
  for (const auto& [key, group] : groups_)
    for (const auto& [signature, costs] : group->decided)
      way = std::max(way, costs->flows_share_links ? Way::fair_shares : Way::apart);
  return way;
}

void ComputedCollectives::cut(double now) {
  for (const auto& [key, all] : groups_)
    for (const std::shared_ptr<Collective>& collective : all->live) {
      const auto timings = collective->timing->timings(collective->costs, collective->arrivals, now);
      const auto missing = std::ranges::find(collective->arrivals, CollectiveTiming::uncut);
      if (missing != collective->arrivals.end()) {
        const auto last = static_cast<std::size_t>(missing - collective->arrivals.begin());
        collective->lateness = {now, world_.timekeeper().main(all->world_rank(last)).since_collective(now)};
      }
      for (std::size_t m = 0; m < timings.size(); ++m) {
        if (!collective->inside[static_cast<int>(m)]) continue;
        const double arrival_s = collective->arrivals[m];
        const double wait_s = now - arrival_s - timings[m].compute_s - timings[m].communicate_s;
        world_.timekeeper().cut_collective(all->world_rank(m), timings[m].compute_s, timings[m].communicate_s,
                                           collective->lateness.causes(arrival_s, collective->since[m], wait_s));
      }
      for (const auto& [ends, sent] : collective->timing->sent(collective->costs, collective->arrivals, now))
        all->sent_when_cut[ends] += sent;
    }
  dissolve();
}

void ComputedCollectives::dissolve() {
  for (const auto& [key, all] : groups_) {
    all->open.reset();
    all->live.clear();
  }
}

void ComputedCollectives::post(Traffic& traffic) const {
  for (const auto& entry : groups_) {
    const auto& all = entry.second;
    const auto post_all = [&](const SentByPair& by_member, std::int64_t times) {
      for (const auto& [ends, sent] : by_member)
        traffic.post(all->world_rank(static_cast<std::size_t>(ends.first)),
                     all->world_rank(static_cast<std::size_t>(ends.second)),
                     {times * sent.bytes, times * sent.messages});
    };
    const std::vector<double> at_once(all->members->size(), 0.0);
    post_all(all->sent_when_cut, 1);
    for (const auto& [signature, over] : all->over)
      post_all(over.timing->sent(all->apart, at_once, CollectiveTiming::uncut), over.times);
  }
}

}  // namespace simgrad::cluster

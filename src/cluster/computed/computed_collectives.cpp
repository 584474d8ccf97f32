#include "cluster/computed/computed_collectives.h"

#include <algorithm>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "cluster/computed/beside_messages.h"
#include "cluster/computed/collective_group.h"
#include "cluster/computed/collective_plan.h"
#include "cluster/computed/contention_check.h"
#include "cluster/computed/idle_costs.h"
#include "cluster/computed/network_routes.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/after_collective.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "cluster/usage/traffic.h"
#include "values/shapes.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;
using values::Tensor;

double CollectiveTiming::alone_s(const AlphaBetaGamma& costs, std::size_t members) const {
  return last_end_s(timings(costs, std::vector(members, 0.0), uncut));
}

Until::Until(std::vector<double> each) : all_(std::ranges::max(each)), each_(std::move(each)) {}

Until Until::of_members(std::span<const int> positions) const {
  if (each_.empty() || positions.empty()) return *this;
  std::vector<double> theirs;
  theirs.reserve(positions.size());
  for (const int position : positions) theirs.push_back(of(position));
  return Until(std::move(theirs));
}

double last_end_s(std::span<const MemberTiming> timings) {
  return std::ranges::max(timings, {}, &MemberTiming::end_s).end_s;
}

ComputedCollectives::ComputedCollectives(World& world) : world_(world) {
  const Options& options = world.cluster().options();
  hosts_may_fail_ = options.failures.hosts_fail();
  if (options.computes_collectives() && !options.alike_routes()) contention_ = std::make_unique<ContentionCheck>(world);
  if (!contention_ && options.platform.empty() && !options.alike_routes())
    own_numbers_ = std::make_unique<LinkNumbers>(world.cluster());
  if (options.computes_collectives()) beside_ = std::make_unique<BesideMessages>(world, contention_.get());
}

ComputedCollectives::~ComputedCollectives() = default;

void ComputedCollectives::message(int source, int target, bool side) const {
  if (contention_) contention_->message(source, target, side);
}

CollectiveGroup& ComputedCollectives::group(const Members& members, int generation) {
  const auto known = known_.find({generation, members.get()});
  if (known != known_.end()) return *known->second;
  std::shared_ptr<CollectiveGroup>& found = groups_[{generation, *members}];
  if (found) return *found;
  found = std::make_shared<CollectiveGroup>();
  found->members = members;  // kept, so that no other vector gets the same address
  found->generation = generation;
  found->number = static_cast<int>(groups_.size());
  found->idle = found->apart = idle_costs(world_, *members);
  if (contention_) found->apart.routes = contention_->routes(members);
  if (own_numbers_) found->apart.routes = std::make_shared<NetworkRoutes>(world_, members, *own_numbers_);
  known_[{generation, members.get()}] = found.get();
  return *found;
}

/// The costs of a collective, by whether its transfers share links.
const AlphaBetaGamma& ComputedCollectives::costs(CollectiveGroup& group, const CollectiveTiming& timing,
                                                 const std::string& signature) const {
  if (!contention_ || !timing.follows_links()) return group.apart;
  if (const auto known = group.decided.find(signature); known != group.decided.end()) return known->second;
  const std::vector at_once(group.members->size(), 0.0);
  const auto decision =
      contention_->claim(group.number, *group.members, *group.apart.routes,
                         timing.sent(group.apart, at_once, CollectiveTiming::uncut), timing.goes_two_ways());
  if (!decision.shared_links.empty() && (!timing.may_share_links() || hosts_may_fail_))
    contention_->give_up(decision.meeting_on);
  if (group.meeting_on.empty()) group.meeting_on = decision.meeting_on;
  AlphaBetaGamma& decided = group.decided[signature] = group.apart;
  if (decision.shared_links.empty()) return decided;
  std::vector<bool> shared(static_cast<std::size_t>(group.apart.routes->links()));
  for (const int link : decision.shared_links) shared[static_cast<std::size_t>(link)] = true;
  decided.shared_links = std::make_shared<const std::vector<bool>>(std::move(shared));
  return decided;
}

PlannedPart ComputedCollectives::plan(CollectiveGroup& group,
                                      const std::shared_ptr<const CollectiveTiming>& timing) const {
  std::string signature = timing->signature();
  const AlphaBetaGamma& its_costs = costs(group, *timing, signature);
  return {.group = &group, .timing = timing, .signature = std::move(signature), .costs = &its_costs};
}

ComputedCollectives::Plan ComputedCollectives::plan(CollectiveGroup& all, const MakePhases& make) {
  Plan& known = all.plans[make.key()];
  if (known) return known;
  std::vector<PlannedPhase> made;
  for (const CollectivePhase& phase : make.phases().phases) {
    PlannedPhase& planned = made.emplace_back();
    planned.places.resize(all.members->size());
    for (const CollectivePart& part : phase) {
      auto ranks = std::make_shared<std::vector<int>>();
      for (const int position : part.members) {
        planned.places[static_cast<std::size_t>(position)] = {static_cast<int>(planned.parts.size()),
                                                              static_cast<int>(ranks->size())};
        ranks->push_back(all.world_rank(static_cast<std::size_t>(position)));
      }
      planned.parts.push_back(plan(group(ranks, all.generation), part.timing));
      planned.parts.back().positions = part.members;
      planned.parts.back().bytes = part.bytes;
    }
    find_alike(planned);
  }
  return known = std::make_shared<const CollectivePlan>(std::move(made));
}

Tensor ComputedCollectives::take_part(const Call& call, const MakeTiming& make, Tensor brought) {
  CollectiveGroup& all = group(call.members, call.generation);
  if (!all.open) {
    std::vector<PlannedPhase> one(1);
    one.front().parts.push_back(plan(all, make()));
    all.open =
        std::make_shared<Collective>(std::make_shared<const CollectivePlan>(std::move(one)), call.members->size());
  }
  return take_part(call, all, std::move(brought));
}

Tensor ComputedCollectives::take_part(const Call& call, const MakePhases& make, Tensor brought) {
  CollectiveGroup& all = group(call.members, call.generation);
  if (!all.open) all.open = std::make_shared<Collective>(plan(all, make), call.members->size());
  return take_part(call, all, std::move(brought));
}

Tensor ComputedCollectives::take_part(const Call& call, CollectiveGroup& all, Tensor brought) {
  const std::shared_ptr<Collective> collective = all.open;
  const auto self = static_cast<std::size_t>(call.position);
  collective->by_one = world_.one_stands_for_all(*all.members);
  if (collective->arrived == 0) all.live.push_back(collective);
  if (AfterCollective* const after = call.actor.after_collective()) {
    world_.timekeeper().enter_collective(call.actor);
    collective->after[self] = after->shared_from_this();
    arrive(call, all, collective, std::move(brought));
    return {};
  }
  {
    BlockedScope blocked(world_.cluster(), &call.actor, {.kind = BlockedOn::Kind::collective});
    blocked.label({});
    arrive(call, all, collective, std::move(brought));
    while (!collective->goes_on[self]) all.sleep(self);
    // A member that goes on at the same time may have given the run up: all time is counted then.
    if (!collective->dissolved) {
      const Left left = leave(all, *collective, *collective->times, self);
      blocked.divided(left.compute_s, left.communicate_s, left.causes);
    }
  }
  return result(all, collective, self);
}

/// Whether other messages on its links may matter.
bool ComputedCollectives::meets_others(const Collective& collective) const {
  return beside_ && collective.plan->phases.front().parts.front().timing->follows_links();
}

void ComputedCollectives::arrive(const Call& call, CollectiveGroup& all, const std::shared_ptr<Collective>& collective,
                                 Tensor brought) const {
  const auto self = static_cast<std::size_t>(call.position);
  if (meets_others(*collective)) beside_->enter(self, all, *collective);
  if (collective->by_one) {  // all come with it, and bring the same
    std::ranges::fill(collective->arrivals, world_.now());
    std::ranges::fill(collective->block_s, call.actor.block_s());
    std::ranges::fill(collective->since, call.actor.since_collective(world_.now()));
    std::iota(collective->order.begin(), collective->order.end(), 0);
    std::ranges::fill(collective->tensors, brought);
    collective->arrived = collective->left = static_cast<int>(all.members->size()) - 1;
  }
  collective->arrivals[self] = world_.now();
  collective->block_s[self] = call.actor.block_s();
  collective->since[self] = call.actor.since_collective(world_.now());
  if (!collective->by_one) collective->order[self] = collective->arrived;
  collective->actors[self] = &call.actor;
  if (brought) collective->bytes = std::max(collective->bytes, brought.size_bytes());
  collective->tensors[self] = std::move(brought);
  if (std::cmp_equal(++collective->arrived, all.members->size())) complete(all, collective);
}

/// The result of a member that has left.
Tensor ComputedCollectives::result(CollectiveGroup& all, const std::shared_ptr<Collective>& collective,
                                   std::size_t member) const {
  if (meets_others(*collective)) beside_->leave(all.world_rank(member), *collective);
  if (std::cmp_equal(++collective->left, all.members->size())) {
    collective->times->each([&](const PlannedPart& part, const PartTimes& times) { count(part, times, *collective); });
    std::erase(all.live, collective);
  }
  return std::move(collective->tensors[member]);
}

/// A member that does not block in the collective leaves it.
void ComputedCollectives::go_on(CollectiveGroup& all, const std::shared_ptr<Collective>& collective,
                                std::size_t member) const {
  if (collective->dissolved) return;
  const std::shared_ptr<AfterCollective> after = std::exchange(collective->after[member], nullptr);
  if (after->gone()) return;
  ActorState& actor = *collective->actors[member];
  const Left left = leave(all, *collective, *collective->times, member);
  world_.timekeeper().leave_collective(actor, left.compute_s, left.communicate_s, left.causes);
  after->go_on(result(all, collective, member));
}

CollectiveTimes ComputedCollectives::times(const CollectiveGroup& all, const Collective& collective,
                                           const Until& until) const {
  MembersOwn own{.deaths = deaths(all, collective)};
  if (std::ranges::any_of(collective.block_s, [](double seconds) { return seconds > 0.0; }))
    own.block_s = collective.block_s;
  return {*collective.plan, collective.arrivals, until, std::move(own)};
}

void ComputedCollectives::complete(CollectiveGroup& all, const std::shared_ptr<Collective>& completed) const {
  Collective& collective = *completed;
  all.open.reset();
  collective.times = std::make_unique<CollectiveTimes>(times(all, collective, CollectiveTiming::uncut));
  find_lateness(all, collective, *collective.times);
  if (collective.by_one) note_spread(collective);
  collective.times->each([&](const PlannedPart& part, const PartTimes& times) {
    if (!part.timing->follows_links()) return;
    CollectiveGroup& group = *part.group;
    // Transfers that may meet those of the collective before must not begin before it has ended.
    if (!group.meeting_on.empty() &&
        std::ranges::min(times.arrivals) < group.busy_until_s - 1e-12 - 4e-16 * group.busy_until_s)
      contention_->give_up(group.meeting_on);
    for (const MemberTiming& member : times.timings)
      if (member.end_s < Until::never) group.busy_until_s = std::max(group.busy_until_s, member.end_s);
  });
  record_ahead(collective);
  for (const PlannedPhase& phase : collective.plan->phases) combine(phase, collective.tensors);
  for (std::size_t m = 0; m < collective.actors.size(); ++m)
    if (collective.actors[m] && collective.times->of(m).end_s < Until::never) collective.actors[m]->ends_by_itself();
  wake(all, completed);
}

void ComputedCollectives::note_spread(const Collective& collective) const {
  double first_s = Until::never, last_s = 0.0;
  for (std::size_t m = 0; m < collective.arrivals.size(); ++m) {
    const double end_s = collective.times->of(m).end_s;
    first_s = std::min(first_s, end_s);
    last_s = std::max(last_s, end_s);
  }
  world_.stand_ins_spread(last_s - first_s);
}

namespace {

/// The members' tensors from here on are their results of the part.
void combine(const PlannedPart& part, std::vector<Tensor>& tensors) {
  if (part.positions.empty()) {
    tensors = part.timing->results(std::move(tensors));
    return;
  }
  std::vector<Tensor> brought;
  brought.reserve(part.positions.size());
  for (const int position : part.positions) brought.push_back(std::move(tensors[static_cast<std::size_t>(position)]));
  std::vector<Tensor> results = part.timing->results(std::move(brought));
  for (std::size_t m = 0; m < results.size(); ++m) tensors[part.position(m)] = std::move(results[m]);
}

}  // namespace

/// The members' tensors from here on are their results of the phase. Those of parts that are alike have equal shapes.
void ComputedCollectives::combine(const PlannedPhase& phase, std::vector<Tensor>& tensors) {
  for (const PlannedPart& part : phase.parts) {
    if (part.alike < 0 || !values::is_shape_alone(tensors[part.position(0)])) {
      cluster::combine(part, tensors);
      continue;
    }
    const PlannedPart& same = phase.parts[static_cast<std::size_t>(part.alike)];
    for (std::size_t m = 0; m < part.positions.size(); ++m) tensors[part.position(m)] = tensors[same.position(m)];
  }
}

/// One timer for all who go on at the same time.
void ComputedCollectives::wake(CollectiveGroup& all, const std::shared_ptr<Collective>& collective) const {
  std::vector<std::pair<double, std::size_t>>& ends = collective->ends;
  ends.clear();
  ends.reserve(all.members->size());
  for (std::size_t m = 0; m < all.members->size(); ++m)
    if (const double end_s = collective->times->of(m).end_s;
        collective->actors[m] && end_s < Until::never && !collective->goes_on[m])
      ends.emplace_back(std::max(end_s, world_.now()), m);
  std::ranges::sort(ends);
  const int woken = ++collective->woken;
  for (std::size_t first = 0; first < ends.size();) {
    EndsTogether members{first, first};
    while (members.last < ends.size() && ends[members.last].first == ends[first].first) ++members.last;
    Timer::set(ends[first].first, [this, &all, weak = std::weak_ptr(collective), members, woken] {
      if (const std::shared_ptr<Collective> over = weak.lock(); over && over->woken == woken) go_on(all, over, members);
    });
    first = members.last;
  }
}

void ComputedCollectives::go_on(CollectiveGroup& all, const std::shared_ptr<Collective>& collective,
                                const EndsTogether& members) const {
  std::vector<std::size_t> others;  // a member that goes on may change the collective's
  for (std::size_t at = members.first; at < members.last; ++at) {
    const std::size_t member = collective->ends[at].second;
    collective->goes_on[member] = true;
    if (collective->after[member])
      others.push_back(member);
    else
      all.bed(member)->release();
  }
  for (const std::size_t member : others) go_on(all, collective, member);
}

ComputedCollectives::Way ComputedCollectives::way() const {
  Way way = Way::none;
  for (const auto& [key, group] : groups_)
    for (const auto& [signature, costs] : group->decided)
      way = std::max(way, costs.flows_share_links() ? Way::fair_shares : Way::apart);
  return way;
}

void ComputedCollectives::cut(double now) {
  for (const auto& [key, all] : groups_)
    for (const std::shared_ptr<Collective>& collective : all->live) cut(*all, *collective, now);
  dissolve();
}

void ComputedCollectives::dissolve() {
  for (const auto& [key, all] : groups_) {
    for (const std::shared_ptr<Collective>& collective : all->live) collective->dissolved = true;
    all->open.reset();
    all->live.clear();
  }
  deaths_.clear();
  if (beside_) beside_->clear();
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

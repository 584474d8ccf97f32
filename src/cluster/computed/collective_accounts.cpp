// Where the time of members went in computed collectives, and what they sent.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/computed/collective_group.h"
#include "cluster/computed/collective_log.h"
#include "cluster/computed/collective_plan.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"

namespace simgrad::cluster {

/// Where a member's time went until now, as far as its actor is concerned; tells the timekeeper how much of it went by
/// before the rank waited for that actor.
ComputedCollectives::Left ComputedCollectives::leave(const CollectiveGroup& all, Collective& collective,
                                                     const CollectiveTimes& times, std::size_t member) const {
  const double now = world_.now();
  if (collective.recorded_until_s < now && collective.times) record_ahead(collective);
  ActorState& actor = *std::exchange(collective.actors[member], nullptr);
  if (hosts_may_fail_ && collective.plan->knows_deaths)
    collective.before_leaving[member] = std::make_shared<const ActorState>(actor);
  collective.awaited_since_s[member] = actor.awaited_since_s();
  if (collective.by_one) std::ranges::fill(collective.awaited_since_s, actor.awaited_since_s());
  const MemberTiming timing = times.of(member);
  const SinceCollective& since = collective.since[member];
  const record::TimeParts causes = times.causes(member, since, collective.arrivals[member], now);
  if (const std::optional<double> followed_s = actor.followed_in_collective_s()) {
    if (*followed_s > collective.arrivals[member]) {
      if (!collective.unfollowed || collective.unfollowed_until[member] != *followed_s)
        find_unfollowed(collective, times, member, *followed_s);
      const MemberTiming before = collective.unfollowed->of(member);
      const record::TimeParts later = times.causes(member, since, *followed_s, now, collective.unfollowed.get());
      world_.timekeeper().went_by_before(all.world_rank(member), before.compute_s, before.communicate_s,
                                         causes - later);
    } else {
      world_.timekeeper().went_by_before(all.world_rank(member), 0.0, 0.0, {});
    }
  }
  return {timing.compute_s, timing.communicate_s, causes};
}

/// The times of all members in the collective until their ranks began to wait for them.
void ComputedCollectives::find_unfollowed(Collective& collective, const CollectiveTimes& times, std::size_t member,
                                          double since_s) {
  std::vector<double> until(collective.arrivals.size(), -Until::never);
  for (std::size_t m = 0; m < until.size(); ++m)
    if (collective.actors[m]) until[m] = collective.actors[m]->followed_in_collective_s().value_or(-Until::never);
  until[member] = since_s;
  collective.unfollowed_until = until;
  collective.unfollowed = std::make_unique<CollectiveTimes>(times, Until(std::move(until)));
}

/// A part that has not begun because somebody has not come is as late as it can be: until now.
void ComputedCollectives::find_lateness(const CollectiveGroup& all, const Collective& collective,
                                        CollectiveTimes& times) const {
  const double now = world_.now();
  times.find_lateness(collective.since, collective.order, [&](std::size_t missing) {
    return Lateness{now, world_.timekeeper().since_collective(all.world_rank(missing))};
  });
}

void ComputedCollectives::count(const PlannedPart& part, const PartTimes& times, const Collective& collective) const {
  CollectiveGroup& all = *part.group;
  const std::int64_t bytes = part.bytes.value_or(collective.bytes);
  if (!part.over) {
    part.over = &all.over[part.signature];
    part.over->timing = part.timing;
  }
  CallsOver& over = *part.over;
  if (over.times++ == 0)
    for (const auto& [ends, sent] : over.timing->sent(all.apart, times.arrivals, CollectiveTiming::uncut))
      over.bytes += sent.bytes;
  // Ranks that are not simulated are in groups of their own, of the same sizes.
  const auto callers = static_cast<std::int64_t>(collective.by_one ? collective.arrivals.size() : 1);
  const std::int64_t groups = world_.repeats() / callers;
  world_.traffic().count(over.bytes * groups);
  for (std::size_t m = 0; m < times.timings.size(); ++m)
    if (const double a_flop_s = all.apart.seconds_per_flop[m]; a_flop_s > 0.0)
      world_.ranks().count_flops(std::round(times.timings[m].compute_s / a_flop_s) / static_cast<double>(callers));
  CollectiveCall call;
  for (std::size_t m = 0; m < times.timings.size(); ++m) {
    call.arrive(times.arrivals[m]);
    call.end(times.arrivals[m], times.timings[m].end_s, collective.awaited_since_s[part.position(m)]);
  }
  const auto alone_s = [&] {
    AlphaBetaGamma costs = part.timing->pays_by_hop() ? all.apart : all.idle;
    costs.block_s = times.costs(part).block_s;
    return part.timing->alone_s(costs, all.members->size());
  };
  if (!part.calls || !part.bytes)
    part.calls = &world_.collective_log().calls(all.members, all.generation, part.timing->name(), bytes, alone_s);
  part.calls->add(call, groups);
}

void ComputedCollectives::cut(const CollectiveGroup& all, Collective& collective, double now) const {
  CollectiveTimes times = this->times(all, collective, now);
  find_lateness(all, collective, times);
  for (std::size_t m = 0; m < collective.actors.size(); ++m) {
    ActorState* const actor = collective.actors[m];
    if (!actor) continue;
    const Left left = leave(all, collective, times, m);
    world_.timekeeper().cut_collective(*actor, left.compute_s, left.communicate_s, left.causes);
  }
  times.each([&](const PlannedPart& part, const PartTimes& part_times) {
    if (!part.last && last_end_s(part_times.timings) <= now) return count(part, part_times, collective);
    // As Messenger::count_started() has it.
    for (const auto& [ends, sent] :
         part.timing->sent(part_times.costs(part), part_times.arrivals, std::nextafter(now, 0.0)))
      part.group->sent_when_cut[ends] += sent;
  });
}

}  // namespace simgrad::cluster

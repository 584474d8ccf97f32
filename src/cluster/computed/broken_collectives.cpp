// Computed collectives in which members die, or which are broken off by a recovery.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/computed/collective_group.h"
#include "cluster/computed/collective_plan.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/computed/members_replay.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "cluster/usage/traffic.h"

namespace simgrad::cluster {

namespace {

/// The parts of waiting.
record::TimeParts waits(record::TimeParts parts) {
  for (std::size_t k = 0; k < record::time_parts; ++k)
    if (const auto part = static_cast<record::TimePart>(k); record::activity_of(part) != record::Activity::wait)
      parts[part] = 0.0;
  return parts;
}

}  // namespace

struct ComputedCollectives::Replayed {
  CollectiveGroup* all;
  std::shared_ptr<Collective> collective;
  std::unique_ptr<MembersReplay> replay;
};

Deaths ComputedCollectives::deaths(const CollectiveGroup& all, const Collective& collective) const {
  if (deaths_.empty() || !collective.plan->knows_deaths) return {};
  return Deaths(deaths_).of_members(*all.members);
}

/// The members' states at their arrivals.
MembersReplay ComputedCollectives::replay(const CollectiveGroup& all, const Collective& collective) const {
  const double now = world_.now();
  const Deaths deaths = this->deaths(all, collective);
  std::vector<MembersReplay::Member> members;
  for (std::size_t m = 0; m < collective.arrivals.size(); ++m) {
    const int rank = all.world_rank(m);
    const double death_s = deaths.at_s(static_cast<int>(m));
    const ActorState* const in_it = collective.actors[m];
    members.push_back({.at_arrival = in_it ? in_it : collective.before_leaving[m].get(),
                       .before = &std::as_const(world_).timekeeper().main(rank),
                       .rank = rank,
                       .arrival_s = collective.arrivals[m],
                       .until_s = std::min(now, death_s),
                       .dies = death_s < Until::never,
                       .followed_s = in_it ? in_it->followed_in_collective_s().value_or(Until::never) : Until::never});
  }
  return MembersReplay(std::move(members));
}

/// Records what the members whose time ends have done until now.
void ComputedCollectives::record_broken(const CollectiveGroup& all, Collective& collective, int ending) const {
  if (!world_.recording().running()) return;
  const double now = world_.now();
  if (collective.times) return record(collective, *collective.times, now, ending);
  CollectiveTimes times = this->times(all, collective, now);
  find_lateness(all, collective, times);
  record(collective, times, now, ending);
}

template <class Visit>
std::vector<ComputedCollectives::Replayed> ComputedCollectives::replay_all(const Visit& visit) const {
  std::vector<Replayed> every;
  std::map<int, const ActorState*> by_rank;  // those in a collective: others may wait for them in the next one
  for (const auto& [key, all] : groups_)
    for (const std::shared_ptr<Collective>& collective : all->live) {
      if (!collective->plan->knows_deaths) continue;
      every.push_back(Replayed{all.get(), collective, std::make_unique<MembersReplay>(replay(*all, *collective))});
      const MembersReplay& members_replay = *every.back().replay;
      for (std::size_t m = 0; m < collective->actors.size(); ++m)
        if (collective->actors[m]) by_rank[all->world_rank(m)] = &members_replay.state(m);
    }
  for (const auto& [all, collective, members_replay] : every)
    for (std::size_t m = 0; m < collective->actors.size(); ++m)
      if (const auto found = by_rank.find(all->world_rank(m)); found != by_rank.end() && !members_replay->has(m))
        members_replay->set_before(m, *found->second);
  const double now = world_.now();
  for (const Replayed& each : every) {
    Collective& collective = *each.collective;
    std::unique_ptr<const CollectiveTimes> until_now;
    if (!collective.times) until_now = std::make_unique<const CollectiveTimes>(times(*each.all, collective, now));
    (until_now ? *until_now : *collective.times).each([&](const PlannedPart& part, const PartTimes& times) {
      each.replay->replay(part, times, now);
      visit(collective, part, times, *each.replay);
    });
  }
  for (const auto& [all, collective, members_replay] : every) members_replay->settle();
  return every;
}

/// The member's actor is as far as in the replay, and in the collective no more.
void ComputedCollectives::break_off(const Replayed& replayed, std::size_t member) const {
  const auto& [all, collective, replay] = replayed;
  ActorState& actor = *std::exchange(collective->actors[member], nullptr);
  collective->before_leaving[member] = std::make_shared<const ActorState>(actor);
  collective->awaited_since_s[member] = actor.awaited_since_s();
  if (actor.followed_in_collective_s()) {
    const Account& before = actor.account();
    const Account& then = replay->when_followed(member) ? *replay->when_followed(member) : before;
    world_.timekeeper().went_by_before(all->world_rank(member), then.compute_s() - before.compute_s(),
                                       then.communicate_s() - before.communicate_s(),
                                       waits(then.parts() - before.parts()));
  }
  world_.timekeeper().break_off(actor, replay->account(member));
  if (Track* const track = actor.track(); track && replay->has_lost_peer(member)) {
    track->set_within(record::Work::idle);
    track->rest();
  }
}

void ComputedCollectives::crash(int rank) {
  if (deaths_.empty()) deaths_.resize(static_cast<std::size_t>(world_.size()));
  Death& death = deaths_[static_cast<std::size_t>(rank)];
  if (!death.up.empty()) {  // repaired, and lost again
    death.up.back().to_s = world_.now();
    walk_again(rank);
  }
  if (!world_.ranks().running(rank)) return;
  const auto some_collective = [&](const auto& holds) {
    return std::ranges::any_of(groups_, [&](const auto& entry) {
      const CollectiveGroup& all = *entry.second;
      return std::ranges::any_of(all.live, [&](const auto& collective) { return bool(holds(all, *collective)); });
    });
  };
  // Actors call at the very moment of a crash where a training begins: then it comes after them, and finds their first
  // messages under way.
  const bool called = some_collective([now = world_.now()](const CollectiveGroup&, const Collective& collective) {
    bool any = false;
    for (std::size_t m = 0; m < collective.actors.size(); ++m)
      any |= collective.actors[m] && !collective.after[m] && collective.arrivals[m] == now;
    return any;
  });
  death = {.at_s = called ? std::nextafter(world_.now(), Until::never) : world_.now()};
  const auto in_it = [&](const CollectiveGroup& all, const Collective& collective) {
    const auto found = std::ranges::find(*all.members, rank);
    const auto member = static_cast<std::size_t>(found - all.members->begin());
    return found != all.members->end() && collective.actors[member] ? std::optional(member) : std::nullopt;
  };
  if (!some_collective(in_it)) return;
  for (const Replayed& replayed : replay_all([](const auto&...) {}))
    if (const auto member = in_it(*replayed.all, *replayed.collective)) {
      if (replayed.collective->times) end_with_deaths(*replayed.all, *replayed.collective);
      record_broken(*replayed.all, *replayed.collective, static_cast<int>(*member));
      break_off(replayed, *member);
      if (replayed.collective->times) wake(*replayed.all, replayed.collective);
    }
}
void ComputedCollectives::revive(int rank) {
  if (deaths_.empty()) return;
  deaths_[static_cast<std::size_t>(rank)].up.push_back({.from_s = world_.now()});
  walk_again(rank);
}

/// The rank's host is up or down in the middle of collectives: who calls the rank from now on waits for it, or finds it
/// dead.
void ComputedCollectives::walk_again(int rank) const {
  for (const auto& [key, all] : groups_) {
    if (std::ranges::find(*all->members, rank) == all->members->end()) continue;
    for (const std::shared_ptr<Collective>& collective : all->live) {
      if (!collective->times || !collective->plan->knows_deaths) continue;
      end_with_deaths(*all, *collective);
      wake(*all, collective);
    }
  }
}

/// Members that depend on a dead one do not leave the collective any more.
void ComputedCollectives::end_with_deaths(const CollectiveGroup& all, Collective& collective) const {
  collective.times = std::make_unique<CollectiveTimes>(times(all, collective, CollectiveTiming::uncut));
  find_lateness(all, collective, *collective.times);
  collective.unfollowed.reset();
  for (std::size_t m = 0; m < collective.goes_on.size(); ++m)
    if (!(collective.times->of(m).end_s < Until::never)) collective.goes_on[m] = false;
}

void ComputedCollectives::break_off() const {
  if (!hosts_may_fail_ || world_.cluster().failed()) return;  // in a failed run some actors are gone already
  const auto count_part = [&](Collective& collective, const PlannedPart& part, const PartTimes& times,
                              const MembersReplay& replay) {
    for (std::size_t m = 0; m < collective.actors.size(); ++m)
      if (const ActorState* const actor = collective.actors[m])
        collective.awaited_since_s[m] = actor->awaited_since_s();
    if (last_end_s(times.timings) <= world_.now()) return count(part, times, collective);
    for (const auto& [ends, sent] : replay.sent()) {
      part.group->sent_when_cut[ends] += sent;
      world_.traffic().count(sent.bytes);
    }
    world_.ranks().count_flops(replay.flops());
  };
  for (const Replayed& replayed : replay_all(count_part)) {
    record_broken(*replayed.all, *replayed.collective, Ending::all);
    for (std::size_t m = 0; m < replayed.collective->actors.size(); ++m)
      if (replayed.collective->actors[m]) break_off(replayed, m);
  }
}

}  // namespace simgrad::cluster

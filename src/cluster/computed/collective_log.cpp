#include "cluster/computed/collective_log.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

constexpr double never_awaited = std::numeric_limits<double>::infinity();

CollectiveCalls& CollectiveLog::calls(const Members& members, int generation, std::string_view name, std::int64_t bytes,
                                      const Prediction& prediction) {
  Key key(generation, name, bytes);
  const auto known = known_.find({key, members.get()});
  if (known != known_.end()) return *known->second;
  std::shared_ptr<CollectiveCalls>& found = all_[{key, *members}];
  if (!found) {
    found = std::make_shared<CollectiveCalls>(members, name, bytes, prediction());
    order_.push_back(found.get());
  }
  // Another rank's copy of the members may die with its communicator, and its place be taken: only the kept one is
  // known.
  if (found->holds(members)) known_[{std::move(key), members.get()}] = found.get();
  return *found;
}

std::vector<record::CollectiveUse> CollectiveLog::uses() const {
  std::vector<record::CollectiveUse> sums;
  for (const CollectiveCalls* calls : order_) {
    const record::CollectiveUse& use = calls->use();
    if (use.calls == 0) continue;
    const auto same = std::ranges::find_if(sums, [&](const record::CollectiveUse& sum) {
      return sum.name == use.name && sum.members == use.members && sum.bytes == use.bytes;
    });
    record::CollectiveUse& sum = same == sums.end() ? sums.emplace_back() : *same;
    sum.name = use.name;
    sum.members = use.members;
    sum.bytes = use.bytes;
    sum.calls += use.calls;
    sum.predicted_s += use.predicted_s * static_cast<double>(use.calls);
    sum.simulated_s += use.simulated_s;
    sum.skew_s += use.skew_s;
    sum.duration_s = sum.duration_s.value_or(0.0) + *use.duration_s;
    sum.exposed_s = sum.exposed_s.value_or(0.0) + *use.exposed_s;
  }
  for (record::CollectiveUse& sum : sums) {
    const auto calls = static_cast<double>(sum.calls);
    sum.predicted_s /= calls;
    sum.simulated_s /= calls;
    sum.skew_s /= calls;
    *sum.duration_s /= calls;
    *sum.exposed_s /= calls;
  }
  return sums;
}

CollectiveCalls::CollectiveCalls(Members members, std::string_view name, std::int64_t bytes, double predicted_s)
    : members_(std::move(members)),
      use_{.name = std::string(name),
           .members = static_cast<std::int64_t>(members_->size()),
           .bytes = bytes,
           .predicted_s = predicted_s,
           .duration_s = 0.0,
           .exposed_s = 0.0},
      arrived_(static_cast<int>(members_->size()), 0),
      left_(static_cast<int>(members_->size()), 0),
      arrivals_(static_cast<int>(members_->size())) {}

void CollectiveCalls::arrive(int member, double now, ActorState* actor) {
  const std::int64_t call = arrived_[member]++;
  if (call == first_open_ + static_cast<std::int64_t>(open_.size())) open_.emplace_back();
  Open& open_call = open(call);
  ++open_call.come;
  open_call.call.arrive(now);
  arrivals_[member].at_s = now;
  if (!actor) return;
  const double work_s = static_cast<double>(use_.members) * actor->block_s();
  arrivals_[member] = {now, now + work_s, actor->parts(now), actor->since_collective(now).with_work(work_s), actor};
  if (now + work_s >= open_call.lateness.last_s) open_call.lateness = {now + work_s, arrivals_[member].since};
}

double CollectiveCalls::arrived_s(int member, int of) const {
  return arrived_[member] >= arrived_[of] ? arrivals_[member].at_s : std::numeric_limits<double>::infinity();
}

void CollectiveCalls::explain(Arrival& arrival, const Lateness& lateness, double now) const {
  ActorState& actor = *std::exchange(arrival.actor, nullptr);
  const double wait_s = actor.parts(now).sum(record::Activity::wait) - arrival.parts.sum(record::Activity::wait);
  actor.replace_causes(arrival.parts, lateness.causes(arrival.ready_s, arrival.since, wait_s));
  actor.left_collective(now);
}

void CollectiveCalls::cut(const World& world, double now) {
  for (int member = 0; member < arrivals_.size(); ++member) {
    if (!arrivals_[member].actor) continue;
    const std::int64_t call = arrived_[member] - 1;
    const Open& open_call = open(call);
    if (open_call.come == use_.members) {
      explain(arrivals_[member], open_call.lateness, now);
      continue;
    }
    int missing = 0;
    while (arrived_[missing] > call) ++missing;
    const ActorState& last = world.timekeeper().main((*members_)[static_cast<std::size_t>(missing)]);
    explain(arrivals_[member], {now, last.account().since_collective()}, now);
  }
}

void CollectiveCalls::forget_actors() {
  for (Arrival& arrival : arrivals_) arrival.actor = nullptr;
}

void CollectiveLog::cut(const World& world, double now) {
  for (CollectiveCalls* calls : order_) calls->cut(world, now);
}

void CollectiveLog::forget_actors() {
  for (CollectiveCalls* calls : order_) calls->forget_actors();
}

void CollectiveCalls::leave(int member, double now, ActorState* actor) {
  Open& open_call = open(left_[member]++);
  if (actor && arrivals_[member].actor == actor && open_call.come == use_.members)
    explain(arrivals_[member], open_call.lateness, now);
  open_call.call.end(arrivals_[member].at_s, now, actor ? actor->awaited_since_s() : never_awaited);
  if (++open_call.gone < use_.members) return;
  add(open_call.call);
  for (; !open_.empty() && open_.front().gone == use_.members; ++first_open_) open_.pop_front();
}

void CollectiveCalls::add(const CollectiveCall& call, std::int64_t groups) {
  const auto members = static_cast<double>(use_.members), times = static_cast<double>(groups);
  use_.calls += groups;
  use_.simulated_s += times * std::max(0.0, call.last_end_s - call.last_arrival_s);
  use_.skew_s += times * std::max(0.0, call.last_arrival_s - call.arrivals_s / members);
  *use_.duration_s += times * call.durations_s / members;
  *use_.exposed_s += times * call.exposed_s / members;
}

}  // namespace simgrad::cluster

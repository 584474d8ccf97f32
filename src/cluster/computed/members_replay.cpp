#include "cluster/computed/members_replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/computed/collective_plan.h"
#include "cluster/ranks/actor_state.h"

namespace simgrad::cluster {

using record::TimePart;
using State = Account::State;

MembersReplay::MembersReplay(std::vector<Member> members)
    : members_(std::move(members)),
      states_(members_.size()),
      when_followed_(members_.size()),
      at_death_(members_.size()),
      lost_peer_(members_.size()) {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (!members_[m].at_arrival) {
      states_[m] = std::make_shared<ActorState>();
      continue;
    }
    states_[m] = std::make_shared<ActorState>(*members_[m].at_arrival);
    states_[m]->account_.record_on(nullptr);
    states_[m]->account_.leave(members_[m].arrival_s);  // it was blocked in the collective
    states_[m]->blocked_on_ = {};
  }
}

const Account& MembersReplay::account(std::size_t member) const {
  return at_death_[member] ? *at_death_[member] : states_[member]->account();
}

std::size_t MembersReplay::position(int member) const { return part_->position(static_cast<std::size_t>(member)); }

void MembersReplay::replay(const PlannedPart& part, const PartTimes& times, double until_s) {
  part_ = &part;
  sent_.clear();
  last_sent_.assign(times.arrivals.size(), {});
  flops_ = 0.0;
  AlphaBetaGamma costs = times.costs(part);
  if (!costs.deaths) costs.deaths = std::make_shared<const Deaths>();
  seconds_per_flop_ = &part.costs->seconds_per_flop;
  part.timing->show(costs, times.arrivals, until_s, *this);
}

void MembersReplay::follow(std::size_t position, double until_s, double transfer_start_s) {
  const double followed_s = members_[position].followed_s;
  if (!(followed_s < until_s) || when_followed_[position]) return;
  ActorState& self = *states_[position];
  const double now = std::max(followed_s, self.account_.since_s());
  self.account_.add_until(now, transfer_start_s, self.causes(std::min(transfer_start_s, now)));
  when_followed_[position] = std::make_shared<const Account>(self.account_);
}

void MembersReplay::sends(int source, int target, std::int64_t bytes, double /*start_s*/, double /*end_s*/) {
  Last& last = last_sent_[static_cast<std::size_t>(source)];
  if (last.target != target) last = {target, &sent_[{source, target}]};
  *last.sent += {bytes, 1};
}

void MembersReplay::blocks(int member, int peer, double since_s, double start_s, double end_s) {
  const std::size_t m = position(member), other = position(peer);
  ActorState& self = *states_[m];
  const double until_s = members_[m].until_s;
  if (!(since_s < until_s)) return;
  self.enter(State::blocked, since_s);
  self.blocked_on_ = {.kind = BlockedOn::Kind::receiving,
                      .peer = members_[other].rank,
                      .awaited = members_[other].at_arrival ? states_[other].get() : members_[other].before};
  if (!(start_s < until_s)) return;  // those whom it waits for are not all replayed up to its end
  follow(m, std::min(end_s, until_s), start_s);
  if (end_s > until_s) {
    self.account_.add_until(until_s, start_s, self.causes(start_s));
    return;
  }
  self.leave(end_s, start_s);
  self.blocked_on_ = {};
}

void MembersReplay::computes(int member, double from_s, double to_s) {
  const std::size_t m = position(member);
  ActorState& self = *states_[m];
  const double until_s = members_[m].until_s;
  if (!(from_s < until_s) || !(to_s > from_s)) return;
  self.enter(State::computing, from_s, TimePart::compute_reduction);
  follow(m, std::min(to_s, until_s), -1.0);
  if (!(to_s < until_s)) return;
  self.leave(to_s);
  flops_ += std::round((to_s - from_s) / (*seconds_per_flop_)[static_cast<std::size_t>(member)]);
}

void MembersReplay::loses_peer(int member, double at_s) {
  const std::size_t m = position(member);
  ActorState& self = *states_[m];
  if (!(at_s < members_[m].until_s) || self.is_beside()) return;
  self.set_within(TimePart::wait_recovery, at_s);
  lost_peer_[m] = true;
}

void MembersReplay::settle() {
  std::vector<std::size_t> order;
  for (std::size_t m = 0; m < members_.size(); ++m)
    if (members_[m].at_arrival) order.push_back(m);
  // A member that waits for a dead one waits for the recovery, from that death on.
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return members_[m].dies ? members_[m].until_s : never; });
  for (const std::size_t m : order) {
    const Member& member = members_[m];
    ActorState& self = *states_[m];
    follow(m, member.until_s, never);
    self.settle(member.until_s);
    self.blocked_on_ = {};
    if (!member.dies) continue;
    at_death_[m] = std::make_shared<const Account>(self.account_);
    self.enter(State::down, member.until_s);
    self.account_.set_within(TimePart::wait_recovery);
  }
}

}  // namespace simgrad::cluster

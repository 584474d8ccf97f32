#include "collectives/mortal_walk.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace simgrad::collectives {

using cluster::MemberTiming;
using cluster::SentByPair;

MortalWalk::MortalWalk(const Schedule& schedule, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                       const cluster::Until& until)
    : schedule_(schedule),
      costs_(costs),
      deaths_(*costs.deaths),
      until_(until),
      works_(schedule, costs, arrivals),
      timings_(arrivals.size()),
      parts_(arrivals.size()),
      out_{std::vector<Transfer>(arrivals.size()), std::vector<Transfer>(arrivals.size())},
      ready_(arrivals.size()) {
  for (std::size_t m = 0; m < arrivals.size(); ++m) timings_[m].end_s = arrivals[m];
}

std::vector<MemberTiming> MortalWalk::timings() {
  walk();
  works_.end(timings_);
  for (std::size_t m = 0; m < timings_.size(); ++m)
    if (deaths_.at_s(static_cast<int>(m)) <= timings_[m].end_s) timings_[m].end_s = never;
  return std::move(timings_);
}

SentByPair MortalWalk::sent() {
  SentByPair sent;
  sent_ = &sent;
  walk();
  return sent;
}

double MortalWalk::show(cluster::TimingObserver& observer) {
  observer_ = &observer;
  for (int round = 0; round < schedule_.rounds() && !nobody_moves(); ++round) {
    if (observer.enough()) return std::ranges::min(timings_, {}, &MemberTiming::end_s).end_s;
    step(round);
  }
  return until_.last();
}

void MortalWalk::walk() {
  for (int round = 0; round < schedule_.rounds() && !nobody_moves(); ++round) step(round);
}

bool MortalWalk::nobody_moves() const {
  return std::ranges::all_of(timings_,
                             [&](const MemberTiming& m) { return m.end_s > until_.last() || !std::isfinite(m.end_s); });
}

void MortalWalk::step(int round) {
  const auto members = static_cast<int>(timings_.size());
  works_.begin(round, timings_);
  for (int m = 0; m < members; ++m) parts_[static_cast<std::size_t>(m)] = call(round, m);
  for (std::size_t way = 0; way < ways; ++way)
    for (int m = 0; m < members; ++m) out_[way][static_cast<std::size_t>(m)] = transfer(m, way);
  for (int m = 0; m < members; ++m) ready_[static_cast<std::size_t>(m)] = go(m);
  for (std::size_t m = 0; m < timings_.size(); ++m) timings_[m].end_s = ready_[m];
  works_.over(round, timings_);
}

MortalWalk::Part MortalWalk::call(int round, int member) const {
  const double now = ready_s(member);
  Part part;
  part.is_there = now < never && now < deaths_.at_s(member);
  if (!part.is_there) return part;
  part.exchanges = schedule_.exchanges(round, member);
  for (std::size_t way = 0; way < ways; ++way) {
    const int target = part.exchanges[way].target;
    if (target >= 0 && deaths_.is_down(target, now)) return part;
    part.sends[way] = target >= 0;
  }
  for (std::size_t way = 0; way < ways; ++way) {
    const int source = part.exchanges[way].source;
    if (source >= 0 && deaths_.is_down(source, now)) return part;
    part.receives[way] = source >= 0;
  }
  return part;
}

MortalWalk::Transfer MortalWalk::transfer(int source, std::size_t way) const {
  const Exchange& exchange = part(source).exchanges[way];
  const int target = exchange.target;
  if (!part(source).sends[way] || !part(target).receives[way]) return {};
  const double start_s = std::max(ready_s(source), ready_s(target));
  const double death_s = std::min(deaths_.at_s(source), deaths_.at_s(target));
  if (death_s <= start_s) return {};
  const double end_s = start_s + costs_.transfer_s(source, target, bytes(exchange.sent));
  if (death_s <= end_s) return {start_s, death_s, true};
  return {start_s, end_s, false};
}

double MortalWalk::go(int member) {
  const Part& self = part(member);
  if (!self.is_there) return never;
  double now = ready_s(member);
  for (std::size_t way = 0; way < ways; ++way) send(member, way);
  for (std::size_t way = 0; way < ways; ++way) {
    const Exchange& exchange = self.exchanges[way];
    if ((exchange.target >= 0 && !self.sends[way]) || (exchange.source >= 0 && !self.receives[way]))
      return stand_still(member, now);
  }
  for (std::size_t way = 0; way < ways; ++way) {
    const Exchange& exchange = self.exchanges[way];
    if (exchange.source >= 0 && !wait(member, exchange.source, out_[way][static_cast<std::size_t>(exchange.source)],
                                      bytes(exchange.received), now))
      return never;
  }
  for (std::size_t way = 0; way < ways; ++way) {
    const Exchange& exchange = self.exchanges[way];
    if (exchange.target >= 0 &&
        !wait(member, exchange.target, out_[way][static_cast<std::size_t>(member)], bytes(exchange.sent), now))
      return never;
  }
  for (const Exchange& exchange : self.exchanges)
    if (exchange.source >= 0 && exchange.reduce && now < never) now = reduce(member, exchange, now);
  return now;
}

void MortalWalk::send(int member, std::size_t way) {
  const Exchange& exchange = part(member).exchanges[way];
  const Transfer& out = out_[way][static_cast<std::size_t>(member)];
  if (!(out.start_s < never) || out.start_s > until_.last()) return;
  if (sent_) (*sent_)[{member, exchange.target}] += {bytes(exchange.sent), 1};
  if (observer_)
    observer_->sends(member, exchange.target, bytes(exchange.sent), out.start_s, std::min(out.over_s, until_.last()));
}

bool MortalWalk::wait(int member, int peer, const Transfer& transfer, std::int64_t bytes, double& now) {
  if (transfer.over_s > now) {
    const double from = std::max(now, transfer.start_s);
    if (observer_) observer_->blocks(member, peer, now, transfer.start_s, transfer.over_s);
    if (from < never)
      timings_[static_cast<std::size_t>(member)].communicate_s += until_.part_s(member, from, transfer.over_s);
    if (observer_ && from < until_.last())
      observer_->communicates(member, peer, bytes, from, std::min(transfer.over_s, until_.last()));
    now = transfer.over_s;
  }
  if (!transfer.broken) return now < never;
  if (now < deaths_.at_s(member)) stand_still(member, now);
  return false;
}

double MortalWalk::stand_still(int member, double at_s) {
  if (observer_) observer_->loses_peer(member, at_s);
  return never;
}

double MortalWalk::reduce(int member, const Exchange& exchange, double now) {
  const auto m = static_cast<std::size_t>(member);
  const double combined = now + static_cast<double>(exchange.received.count) * costs_.seconds_per_flop[m];
  const double over = std::min(combined, deaths_.at_s(member));
  timings_[m].compute_s += until_.part_s(member, now, over);
  if (observer_ && now < until_.last()) observer_->computes(member, now, std::min(over, until_.last()));
  return deaths_.at_s(member) <= combined ? never : combined;
}

}  // namespace simgrad::collectives

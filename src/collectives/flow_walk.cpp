#include "collectives/flow_walk.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::MemberTiming;
using cluster::SentByPair;

namespace {

std::vector<double> bandwidths(const cluster::MemberRoutes& routes) {
  std::vector<double> all;
  for (int link = 0; link < routes.links(); ++link) all.push_back(routes.bandwidth(link));
  return all;
}

}  // namespace

FlowWalk::FlowWalk(const Schedule& schedule, const AlphaBetaGamma& costs, std::span<const double> arrivals,
                   const cluster::Until& until)
    : schedule_(schedule),
      costs_(costs),
      until_(until),
      works_(schedule, costs, arrivals),
      timings_(arrivals.size()),
      members_(arrivals.size()),
      sharing_(bandwidths(*costs.routes), std::numeric_limits<double>::infinity()) {
  for (std::size_t m = 0; m < arrivals.size(); ++m) {
    timings_[m].end_s = arrivals[m];
    if (std::isfinite(arrivals[m])) coming_.push_back(static_cast<int>(m));
  }
}

std::vector<MemberTiming> FlowWalk::timings() {
  run();
  return std::move(timings_);
}

SentByPair FlowWalk::sent() {
  SentByPair sent;
  sent_ = &sent;
  run();
  return sent;
}

double FlowWalk::show(cluster::TimingObserver& observer) {
  observer_ = &observer;
  return run();
}

double FlowWalk::run() {
  come_all();
  while (!events_.empty() && !seen_enough()) {
    const double now = events_.top().at_s;
    const double until = together_until(now);
    while (!events_.empty() && events_.top().at_s <= until) {
      const Event event = events_.top();
      events_.pop();
      happen(event);
      come_all();
    }
    sharing_.share(
        [&](int sharing, double rate) { change_rate(flow_of_sharing_[static_cast<std::size_t>(sharing)], rate, now); });
  }
  double shown_s = until_.last();
  if (!events_.empty() || !coming_.empty()) {  // enough is shown: the round that a member is in is not
    for (const Member& member : members_)
      if (member.open > 0) shown_s = std::min(shown_s, member.ready_s);
    for (const int member : coming_) shown_s = std::min(shown_s, timings_[static_cast<std::size_t>(member)].end_s);
    return shown_s;
  }
  for (std::size_t m = 0; m < members_.size(); ++m)
    if (members_[m].open > 0) account(static_cast<int>(m));
  return shown_s;
}

void FlowWalk::happen(const Event& event) {
  if (event.version != flows_[static_cast<std::size_t>(event.flow)].version) return;
  if (event.kind == Event::Kind::has_paid_latency)
    pay_latency(event.flow, event.at_s);
  else
    end(event.flow, event.at_s);
}

void FlowWalk::come_all() {
  while (!coming_.empty() && !seen_enough()) {
    const int next = coming_.back();
    coming_.pop_back();
    come(next);
  }
}

void FlowWalk::come(int number) {
  Member& self = member(number);
  const auto m = static_cast<std::size_t>(number);
  self.open = 0;
  do {
    if (++self.round >= schedule_.rounds()) {
      timings_[m].end_s = works_.end_s(m, timings_[m].end_s);
      return;
    }
    const std::array<Exchange, 2> exchanges = schedule_.exchanges(self.round, number);
    for (std::size_t k = 0; k < exchanges.size(); ++k) {
      Leg& own_leg = self.legs[k];
      own_leg.exchange = exchanges[k];
      own_leg.in = own_leg.out = {};
      self.open += (own_leg.exchange.source >= 0 ? 1 : 0) + (own_leg.exchange.target >= 0 ? 1 : 0);
    }
  } while (self.open == 0);
  self.ready_s = works_.begin_s(self.round, m, timings_[m].end_s);
  const auto is_there = [&](int peer) { return peer >= 0 && member(peer).round == self.round; };
  for (std::size_t k = 0; k < self.legs.size(); ++k) {
    const Exchange exchange = self.legs[k].exchange;
    const bool sends = is_there(exchange.target), receives = is_there(exchange.source);
    if (sends) begin(k, number, exchange.target);
    if (receives) begin(k, exchange.source, number);
  }
}

const FlowWalk::Way& FlowWalk::way(std::size_t number, int source, int target) {
  Way& way = leg(number, source).way;
  if (way.target == target) return way;
  const cluster::MemberRoute& route = costs_.routes->between(source, target);
  const std::vector<bool>& shared = *costs_.shared_links;
  way = {target, &route,
         std::ranges::any_of(route.links, [&](int link) { return shared[static_cast<std::size_t>(link)]; })};
  return way;
}

/// Both ends have come to their round.
void FlowWalk::begin(std::size_t number, int source, int target) {
  const double now = std::max(member(source).ready_s, member(target).ready_s);
  leg(number, source).out.start_s = leg(number, target).in.start_s = now;
  const std::int64_t size = bytes(leg(number, source).exchange.sent);
  if (sent_ && now <= until_.last()) (*sent_)[{source, target}] += {size, 1};
  const Way& pair_way = way(number, source, target);
  if (pair_way.shared) return begin_shared(number, source, target, pair_way, now);
  end(number, source, target,
      now + pair_way.route->latency_s + static_cast<double>(size) / pair_way.route->alone_bytes_per_s());
}

void FlowWalk::begin_shared(std::size_t its_leg, int source, int target, const Way& way, double now) {
  int number = 0;
  if (free_flows_.empty()) {
    number = static_cast<int>(flows_.size());
    flows_.emplace_back();
  } else {
    number = free_flows_.back();
    free_flows_.pop_back();
  }
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  flow = {.leg = its_leg,
          .source = source,
          .target = target,
          .links = way.route->links,
          .limit = way.route->flow_limit_bytes_per_s / way.route->payload_part,
          .left = static_cast<double>(bytes(leg(its_leg, source).exchange.sent)) / way.route->payload_part,
          .version = flow.version + 1};
  events_.push({.at_s = now + way.route->latency_s,
                .kind = Event::Kind::has_paid_latency,
                .flow = number,
                .version = flow.version});
}

void FlowWalk::pay_latency(int number, double now) {
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  if (!(flow.left > 0.0)) return end(number, now);
  flow.since_s = now;
  flow.sharing = sharing_.add(flow.links, flow.limit);
  const auto at = static_cast<std::size_t>(flow.sharing);
  if (flow_of_sharing_.size() <= at) flow_of_sharing_.resize(at + 1);
  flow_of_sharing_[at] = number;
}

void FlowWalk::change_rate(int number, double rate, double now) {
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  const double at_s = std::max(now, flow.since_s);
  flow.left = std::max(0.0, flow.left - flow.rate * (at_s - flow.since_s));
  flow.since_s = at_s;
  flow.rate = rate;
  events_.push({.at_s = at_s + flow.left / rate, .kind = Event::Kind::ends, .flow = number, .version = ++flow.version});
}

void FlowWalk::end(int number, double now) {
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  ++flow.version;
  if (flow.sharing >= 0) sharing_.remove(std::exchange(flow.sharing, -1));
  free_flows_.push_back(number);
  end(flow.leg, flow.source, flow.target, now);
}

void FlowWalk::end(std::size_t number, int source, int target, double now) {
  leg(number, source).out.end_s = leg(number, target).in.end_s = now;
  close(source);
  close(target);
}

/// One of the member's transfers is over.
void FlowWalk::close(int number) {
  if (--member(number).open > 0) return;
  account(number);
  works_.over(member(number).round, static_cast<std::size_t>(number), timings_[static_cast<std::size_t>(number)].end_s);
  coming_.push_back(number);
}

void FlowWalk::account(int number) {
  const Member& self = member(number);
  MemberTiming& timing = timings_[static_cast<std::size_t>(number)];
  timing.end_s = self.ready_s;
  const auto communicates = [&](int peer, const Stretch& what, const Transfer& transfer) {
    const double from = std::max(timing.end_s, transfer.start_s), to = std::max(timing.end_s, transfer.end_s);
    timing.communicate_s += until_.part_s(number, from, to);
    if (observer_ && from < until_.last() && to > from)
      observer_->communicates(number, peer, bytes(what), from, std::min(to, until_.last()));
    timing.end_s = to;
  };
  for (const auto& [exchange, out, in, way] : self.legs)
    if (exchange.source >= 0) communicates(exchange.source, exchange.received, in);
  for (const auto& [exchange, out, in, way] : self.legs) {
    if (exchange.target < 0) continue;
    if (observer_ && out.start_s < until_.last())
      observer_->sends(number, exchange.target, bytes(exchange.sent), out.start_s, std::min(out.end_s, until_.last()));
    communicates(exchange.target, exchange.sent, out);
  }
  for (const auto& [exchange, out, in, way] : self.legs)
    if (exchange.source >= 0 && exchange.reduce) reduce(number, exchange.received);
}

void FlowWalk::reduce(int number, const Stretch& received) {
  MemberTiming& timing = timings_[static_cast<std::size_t>(number)];
  const double combined =
      timing.end_s + static_cast<double>(received.count) * costs_.seconds_per_flop[static_cast<std::size_t>(number)];
  timing.compute_s += until_.part_s(number, timing.end_s, combined);
  if (observer_ && timing.end_s < until_.last())
    observer_->computes(number, timing.end_s, std::min(combined, until_.last()));
  timing.end_s = combined;
}

}  // namespace simgrad::collectives

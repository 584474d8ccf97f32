#include "collectives/schedule_walk.h"

#include <algorithm>

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::MemberTiming;
using cluster::SentByPair;

ScheduleWalk::ScheduleWalk(const Schedule& schedule, const AlphaBetaGamma& costs, std::span<const double> arrivals,
                           const cluster::Until& until)
    : schedule_(schedule),
      two_ways_(schedule.goes_two_ways()),
      costs_(costs),
      until_(until),
      works_(schedule, costs, arrivals),
      timings_(arrivals.size()) {
  for (std::size_t m = 0; m < arrivals.size(); ++m) timings_[m].end_s = arrivals[m];
}

std::vector<MemberTiming> ScheduleWalk::timings() {
  for (int round = 0; round < schedule_.rounds() && !all_past_the_cut(); ++round) step(round);
  works_.end(timings_);
  return std::move(timings_);
}

SentByPair ScheduleWalk::sent() {
  SentByPair sent;
  sent_ = &sent;
  timings();
  return sent;
}

double ScheduleWalk::show(cluster::TimingObserver& observer) {
  observer_ = &observer;
  for (int round = 0; round < schedule_.rounds() && !all_past_the_cut(); ++round) {
    if (observer.enough()) return std::ranges::min(timings_, {}, &MemberTiming::end_s).end_s;
    step(round);
  }
  return until_.last();
}

bool ScheduleWalk::all_past_the_cut() const {
  return std::all_of(timings_.begin(), timings_.end(), [&](const MemberTiming& m) { return m.end_s > until_.last(); });
}

void ScheduleWalk::step(int round) {
  works_.begin(round, timings_);
  before_ = timings_;
  for (std::size_t m = 0; m < timings_.size(); ++m) {
    const Exchange exchange = schedule_.exchange(round, static_cast<int>(m));
    const Exchange beside = two_ways_ ? schedule_.beside(round, static_cast<int>(m)) : Exchange{};
    if (exchange.source >= 0) receive(m, exchange);
    if (beside.source >= 0) receive(m, beside);
    if (exchange.target >= 0) send(m, exchange);
    if (beside.target >= 0) send(m, beside);
    if (exchange.source >= 0 && exchange.reduce) reduce(m, exchange);
    if (beside.source >= 0 && beside.reduce) reduce(m, beside);
  }
  works_.over(round, timings_);
}

inline void ScheduleWalk::receive(std::size_t member, const Exchange& exchange) {
  MemberTiming& m = timings_[member];
  const double start = start_with(member, exchange.source);
  const double over = start + costs_.transfer_s(exchange.source, static_cast<int>(member), bytes(exchange.received));
  if (over < m.end_s) return;  // that of its other way ends later
  const double from = std::max(start, m.end_s);
  m.end_s = over;
  m.communicate_s += until_.part_s(static_cast<int>(member), from, m.end_s);
  if (observer_ && from < until_.last())
    observer_->communicates(static_cast<int>(member), exchange.source, bytes(exchange.received), from,
                            std::min(m.end_s, until_.last()));
}

/// The end of its own send may come after what it receives.
inline void ScheduleWalk::send(std::size_t member, const Exchange& exchange) {
  MemberTiming& m = timings_[member];
  const double start = start_with(member, exchange.target);
  const double sent_s = start + costs_.transfer_s(static_cast<int>(member), exchange.target, bytes(exchange.sent));
  const double end = std::max(m.end_s, sent_s);
  const double from = exchange.source >= 0 ? std::max(m.end_s, start) : start;
  m.communicate_s += until_.part_s(static_cast<int>(member), std::min(from, end), end);
  m.end_s = end;
  if (sent_ && start <= until_.last())
    (*sent_)[{static_cast<int>(member), exchange.target}] += {bytes(exchange.sent), 1};
  if (!observer_ || !(start < until_.last())) return;
  observer_->sends(static_cast<int>(member), exchange.target, bytes(exchange.sent), start,
                   std::min(sent_s, until_.last()));
  if (from < until_.last())
    observer_->communicates(static_cast<int>(member), exchange.target, bytes(exchange.sent), from,
                            std::min(end, until_.last()));
}

inline void ScheduleWalk::reduce(std::size_t member, const Exchange& exchange) {
  MemberTiming& m = timings_[member];
  const double combined = m.end_s + static_cast<double>(exchange.received.count) * costs_.seconds_per_flop[member];
  m.compute_s += until_.part_s(static_cast<int>(member), m.end_s, combined);
  if (observer_ && m.end_s < until_.last())
    observer_->computes(static_cast<int>(member), m.end_s, std::min(combined, until_.last()));
  m.end_s = combined;
}

}  // namespace simgrad::collectives

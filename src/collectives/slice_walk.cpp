#include "collectives/slice_walk.h"

#include <algorithm>
#include <utility>

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::MemberTiming;

RingHops::RingHops(const AlphaBetaGamma& costs) : seconds_per_flop(costs.seconds_per_flop) {
  const auto P = static_cast<int>(seconds_per_flop.size());
  for (int r = 0; r < P; ++r) {
    const auto* const route = costs.routes ? &costs.routes->between(r, (r + 1) % P) : nullptr;
    latency_s.push_back(route ? route->latency_s : costs.latency_s);
    bandwidth_bytes_per_s.push_back(route ? route->alone_bytes_per_s()
                                          : std::min(costs.bandwidth_bytes_per_s, costs.flow_limit_bytes_per_s));
  }
}

SliceWalk::SliceWalk(const RingOfChunks& ring, RingHops hops, std::span<const double> arrivals,
                     const cluster::Until& until)
    : ring_(ring),
      P_(arrivals.size()),
      hops_(std::move(hops)),
      until_(until),
      arrivals_(arrivals.begin(), arrivals.end()),
      before_(P_ * static_cast<std::size_t>(ring.slices)),
      now_(before_.size()),
      posted_s_(P_),
      posted_bytes_(P_),
      timings_(P_) {
  for (std::size_t r = 0; r < P_; ++r) timings_[r].end_s = arrivals[r];
}

std::vector<MemberTiming> SliceWalk::timings() {
  walk();
  return std::move(timings_);
}

cluster::SentByPair SliceWalk::sent() {
  cluster::SentByPair sent;
  sent_ = &sent;
  walk();
  return sent;
}

double SliceWalk::show(cluster::TimingObserver& observer) {
  observer_ = &observer;
  for (int number = 0; number < ring_.rounds * ring_.slices && !all_past_the_cut(); ++number) {
    if (observer.enough()) return std::ranges::min(timings_, {}, &MemberTiming::end_s).end_s;
    step(number);
  }
  if (!all_past_the_cut())
    for (std::size_t r = 0; r < P_; ++r) finish(r);
  return until_.last();
}

void SliceWalk::walk() {
  for (int number = 0; number < ring_.rounds * ring_.slices; ++number) {
    if (number % ring_.slices == 0 && all_past_the_cut()) return;
    step(number);
  }
  for (std::size_t r = 0; r < P_; ++r) finish(r);
}

bool SliceWalk::all_past_the_cut() const {
  if (until_.is_never()) return false;
  return std::ranges::all_of(timings_, [&](const MemberTiming& m) { return m.end_s > until_.last(); });
}

/// Every member sends its slice of that number, after it has received the one of the round before.
void SliceWalk::step(int number) {
  const int round = number / ring_.slices, place = number % ring_.slices;
  if (place == 0) std::swap(before_, now_);
  for (std::size_t r = 0; r < P_; ++r) {
    const Stretch slice = ring_.slice(ring_.chunk(round, static_cast<int>(r)), place);
    if (round > 0)
      receive(r, before_[at(static_cast<std::size_t>(place), left_of(r))], slice, round - 1 < ring_.reducing);
    if (number > 0) pace(r);
    send(r, slice, static_cast<std::size_t>(place));
  }
}

void SliceWalk::receive(std::size_t member, const Flight& in, const Stretch& slice, bool reduces) {
  MemberTiming& m = timings_[member];
  if (in.end_s > m.end_s) {
    communicate(member, left_of(member), ring_.split.bytes(slice), std::max(m.end_s, in.start_s), in.end_s);
    m.end_s = in.end_s;
  }
  if (!reduces) return;
  const double combined = m.end_s + static_cast<double>(slice.count) * hops_.seconds_per_flop[member];
  m.compute_s += until_.part_s(static_cast<int>(member), m.end_s, combined);
  if (observer_ && m.end_s < until_.last())
    observer_->computes(static_cast<int>(member), m.end_s, std::min(combined, until_.last()));
  m.end_s = combined;
}

/// Waits until the bytes of its last slice have left.
void SliceWalk::pace(std::size_t member) {
  const std::int64_t bytes = posted_bytes_[member];
  if (bytes == 0) return;
  MemberTiming& m = timings_[member];
  const double leaves_s = static_cast<double>(bytes) / hops_.bandwidth_bytes_per_s[member];
  const double come_s = arrivals_[right_of(member)];
  const double start_s = std::max(posted_s_[member], come_s);
  const bool is_there = come_s < posted_s_[member] + leaves_s;
  const double left_s = start_s + (is_there ? leaves_s : hops_.latency_s[member] + leaves_s);
  if (!(left_s > m.end_s)) return;
  communicate(member, right_of(member), bytes, std::max(m.end_s, start_s), left_s);
  m.end_s = left_s;
}

void SliceWalk::send(std::size_t member, const Stretch& slice, std::size_t place) {
  const std::int64_t bytes = ring_.split.bytes(slice);
  const double posted_s = timings_[member].end_s;
  const double start_s = std::max(posted_s, arrivals_[right_of(member)]);
  const double end_s =
      start_s + hops_.latency_s[member] + static_cast<double>(bytes) / hops_.bandwidth_bytes_per_s[member];
  posted_s_[member] = posted_s;
  posted_bytes_[member] = bytes;
  now_[at(place, member)] = {start_s, end_s};
  const auto source = static_cast<int>(member), target = static_cast<int>(right_of(member));
  if (sent_ && start_s <= until_.last()) (*sent_)[{source, target}] += {bytes, 1};
  if (observer_ && start_s < until_.last())
    observer_->sends(source, target, bytes, start_s, std::min(end_s, until_.last()));
}

/// Receives the last round, and waits for its own last slice.
void SliceWalk::finish(std::size_t member) {
  const auto left = static_cast<int>(left_of(member));
  for (int place = 0; place < ring_.slices; ++place)
    receive(member, now_[at(static_cast<std::size_t>(place), left_of(member))],
            ring_.slice(ring_.chunk(ring_.rounds - 1, left), place), ring_.rounds <= ring_.reducing);
  const Flight& last = now_[at(static_cast<std::size_t>(ring_.slices - 1), member)];
  MemberTiming& m = timings_[member];
  if (!(last.end_s > m.end_s)) return;
  communicate(member, right_of(member), posted_bytes_[member], std::max(m.end_s, last.start_s), last.end_s);
  m.end_s = last.end_s;
}

void SliceWalk::communicate(std::size_t member, std::size_t peer, std::int64_t bytes, double from, double to) {
  timings_[member].communicate_s += until_.part_s(static_cast<int>(member), from, to);
  if (observer_ && from < until_.last() && to > from)
    observer_->communicates(static_cast<int>(member), static_cast<int>(peer), bytes, from, std::min(to, until_.last()));
}

}  // namespace simgrad::collectives

#include "collectives/rings_walk.h"

#include <algorithm>

namespace simgrad::collectives {

using cluster::MemberTiming;

RingsWalk::RingsWalk(const RingsAtOnce& rings, const values::WireFormat& wire, const cluster::AlphaBetaGamma& costs,
                     std::span<const double> arrivals, const cluster::Until& until)
    : rings_(rings), wire_(wire), until_(until), seconds_per_flop_(costs.seconds_per_flop), timings_(arrivals.size()) {
  for (std::size_t m = 0; m < arrivals.size(); ++m) timings_[m].end_s = arrivals[m];
  for (const std::vector<std::int64_t>& numbers : rings.numbers) {
    even_ = even_ && std::ranges::all_of(numbers, [&](std::int64_t n) { return n == rings.numbers[0][0]; });
    twice_.push_back(numbers);
    twice_.back().insert(twice_.back().end(), numbers.begin(), numbers.end());
  }
  add_hops(costs);
}

void RingsWalk::add_hops(const cluster::AlphaBetaGamma& costs) {
  for (std::size_t k = 0; k < hops_.size(); ++k) {
    Hops& hops = hops_[k];
    for (int m = 0; m < rings_.members(); ++m) {
      const RingsOfWay& way = rings_.ways[static_cast<std::size_t>(m)][k];
      hops.target.push_back(way.target);
      hops.source.push_back(way.source);
      hops.ring.push_back(k == 1 && way.sent.size() == 1 ? way.sent.front() : -1);
      const auto* const route = costs.routes && way.target >= 0 ? &costs.routes->between(m, way.target) : nullptr;
      hops.latency_s.push_back(route ? route->latency_s : costs.latency_s);
      hops.bandwidth_bytes_per_s.push_back(route ? route->alone_bytes_per_s()
                                                 : std::min(costs.bandwidth_bytes_per_s, costs.flow_limit_bytes_per_s));
    }
    hops.numbers.resize(hops.target.size());
    hops.seconds.resize(hops.target.size());
  }
}

std::vector<MemberTiming> RingsWalk::timings() {
  const auto past_the_cut = [&] {
    return !until_.is_never() &&
           std::ranges::all_of(timings_, [&](const MemberTiming& m) { return m.end_s > until_.last(); });
  };
  for (const int phase : {0, 1}) {
    const int first = phase == 0 ? 0 : rings_.reducing;
    const int end = phase == 0 ? rings_.reducing : rings_.reducing + rings_.gathering;
    for (int round = first; round < end && !past_the_cut(); ++round) {
      if (round == first || !even_) find_transfers(round);
      last_ = timings_;
      step(phase == 0);
      if (round == first && in_lockstep()) {
        repeat(end - round - 1);
        break;
      }
    }
  }
  return std::move(timings_);
}

/// The time of each transfer of the round.
void RingsWalk::find_transfers(int round) {
  auto& [inside, outside] = hops_;
  std::ranges::fill(inside.numbers, 0.0);
  for (std::size_t q = 0; q < twice_.size(); ++q) {
    const std::int64_t* const numbers = twice_[q].data() + rings_.members() - rings_.ago(round);
    const int* const places = rings_.places[q].data();
    for (std::size_t m = 0; m < timings_.size(); ++m) inside.numbers[m] += static_cast<double>(numbers[places[m]]);
  }
  for (std::size_t m = 0; m < timings_.size(); ++m) {
    const int ring = outside.ring[m];
    if (ring < 0) continue;
    const auto q = static_cast<std::size_t>(ring);
    const std::int64_t* const numbers = twice_[q].data() + rings_.members() - rings_.ago(round);
    outside.numbers[m] = static_cast<double>(numbers[rings_.places[q][m]]);
    inside.numbers[m] -= outside.numbers[m];
  }
  for (Hops& hops : hops_)
    for (std::size_t m = 0; m < timings_.size(); ++m)
      hops.seconds[m] =
          hops.latency_s[m] +
          static_cast<double>(wire_.bytes(static_cast<std::int64_t>(hops.numbers[m]))) / hops.bandwidth_bytes_per_s[m];
}

inline void RingsWalk::wait(std::size_t member, double start_s, double over_s) {
  MemberTiming& timing = timings_[member];
  if (over_s < timing.end_s) return;
  timing.communicate_s += until_.part_s(static_cast<int>(member), std::max(start_s, timing.end_s), over_s);
  timing.end_s = over_s;
}

void RingsWalk::step(bool reduces) {
  const auto start_s = [&](std::size_t member, int peer) {
    return std::max(last_[member].end_s, last_[static_cast<std::size_t>(peer)].end_s);
  };
  for (std::size_t m = 0; m < timings_.size(); ++m) {
    for (const Hops& hops : hops_) {
      const int source = hops.source[m];
      if (source < 0) continue;
      const double start = start_s(m, source);
      wait(m, start, start + hops.seconds[static_cast<std::size_t>(source)]);
    }
    for (const Hops& hops : hops_) {
      if (hops.target[m] < 0) continue;
      const double start = start_s(m, hops.target[m]);
      wait(m, start, start + hops.seconds[m]);
    }
    if (!reduces) continue;
    double received = 0.0;
    for (const Hops& hops : hops_)
      if (hops.source[m] >= 0) received += hops.numbers[static_cast<std::size_t>(hops.source[m])];
    MemberTiming& timing = timings_[m];
    const double combined = timing.end_s + received * seconds_per_flop_[m];
    timing.compute_s += until_.part_s(static_cast<int>(m), timing.end_s, combined);
    timing.end_s = combined;
  }
}

/// Whether all members have come to the last round at once and have left it at once, so that the next is like it.
bool RingsWalk::in_lockstep() const {
  if (!even_ || !until_.is_never()) return false;
  return std::ranges::all_of(last_, [&](const MemberTiming& m) { return m.end_s == last_[0].end_s; }) &&
         std::ranges::all_of(timings_, [&](const MemberTiming& m) { return m.end_s == timings_[0].end_s; });
}

void RingsWalk::repeat(int rounds) {
  for (std::size_t m = 0; m < timings_.size(); ++m) {
    MemberTiming& timing = timings_[m];
    timing.end_s += rounds * (timing.end_s - last_[m].end_s);
    timing.compute_s += rounds * (timing.compute_s - last_[m].compute_s);
    timing.communicate_s += rounds * (timing.communicate_s - last_[m].communicate_s);
  }
}

}  // namespace simgrad::collectives

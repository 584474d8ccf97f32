#include "collectives/ring_walk.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/vectors.h"

namespace simgrad::collectives {

namespace {

// In a round, the transfer from r to r + 1 begins when both have come, and takes transfer_s[r]. Each member waits for
// the transfer in, then for the one out. now[-1] and transfer_s[-1] are those of the last member, now[P] is that of the
// first one.

SIMGRAD_AVX2_IF_THERE
void pass_on(std::size_t P, const double* __restrict now, const double* __restrict transfer_s,
             double* __restrict communicate_s, double* __restrict next) {
  for (std::size_t r = 0; r < P; ++r) {
    const double* const at = now + r;
    const double in_start = at[-1] < at[0] ? at[0] : at[-1];
    const double out_start = at[0] < at[1] ? at[1] : at[0];
    const double received = in_start + (transfer_s + r)[-1];
    const double sent = out_start + transfer_s[r];
    const double over = received < sent ? sent : received;
    const double still = received < out_start ? out_start : received;
    communicate_s[r] += (received - in_start) + (over - still);
    next[r] = over;
  }
}

/// Then it combines what it has received.
SIMGRAD_AVX2_IF_THERE
void pass_on_and_combine(std::size_t P, const double* __restrict now, const double* __restrict transfer_s,
                         const double* __restrict flops, const double* __restrict seconds_per_flop,
                         double* __restrict communicate_s, double* __restrict compute_s, double* __restrict next) {
  for (std::size_t r = 0; r < P; ++r) {
    const double* const at = now + r;
    const double in_start = at[-1] < at[0] ? at[0] : at[-1];
    const double out_start = at[0] < at[1] ? at[1] : at[0];
    const double received = in_start + (transfer_s + r)[-1];
    const double sent = out_start + transfer_s[r];
    const double over = received < sent ? sent : received;
    const double still = received < out_start ? out_start : received;
    const double takes = flops[r] * seconds_per_flop[r];
    communicate_s[r] += (received - in_start) + (over - still);
    compute_s[r] += takes;
    next[r] = over + takes;
  }
}

/// The part of a span before `until`.
inline double part_s(double from, double to, double until) {
  const double end = to < until ? to : until;
  return from < end ? end - from : 0.0;
}

// The two as above, of which the time before `until` alone counts.

SIMGRAD_AVX2_IF_THERE
void pass_on_until(std::size_t P, const double* __restrict until, const double* __restrict now,
                   const double* __restrict transfer_s, double* __restrict communicate_s, double* __restrict next) {
  for (std::size_t r = 0; r < P; ++r) {
    const double* const at = now + r;
    const double in_start = at[-1] < at[0] ? at[0] : at[-1];
    const double out_start = at[0] < at[1] ? at[1] : at[0];
    const double received = in_start + (transfer_s + r)[-1];
    const double sent = out_start + transfer_s[r];
    const double over = received < sent ? sent : received;
    const double still = received < out_start ? out_start : received;
    communicate_s[r] += part_s(in_start, received, until[r]) + part_s(still, over, until[r]);
    next[r] = over;
  }
}

SIMGRAD_AVX2_IF_THERE
void combine_until(std::size_t P, const double* __restrict until, const double* __restrict flops,
                   const double* __restrict seconds_per_flop, double* __restrict compute_s, double* __restrict next) {
  for (std::size_t r = 0; r < P; ++r) {
    const double combined = next[r] + flops[r] * seconds_per_flop[r];
    compute_s[r] += part_s(next[r], combined, until[r]);
    next[r] = combined;
  }
}

}  // namespace

RingWalk::RingWalk(const Split& split, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                   const cluster::Until& until)
    : split_(split), P_(arrivals.size()), halo_(std::clamp<std::size_t>(P_ - 1, 1, rounds_together)) {
  const std::size_t with_halos = P_ + 2 * halo_;
  now_.resize(with_halos);
  next_.resize(with_halos);
  compute_s_.resize(with_halos);
  communicate_s_.resize(with_halos);
  seconds_per_flop_.resize(with_halos);
  std::ranges::copy(arrivals, now_.begin() + static_cast<std::ptrdiff_t>(halo_));
  std::ranges::copy(costs.seconds_per_flop, seconds_per_flop_.begin() + static_cast<std::ptrdiff_t>(halo_));
  close_ring(now_, 1);
  close_ring(seconds_per_flop_, halo_);
  if (costs.routes) add_hops(costs);
  for (int k = 0; k < split.chunks(); ++k) {
    if (latency_s_.empty()) transfer_s_.push_back(costs.transfer_s(0, 1, split.bytes(split.chunk(k))));
    flops_.push_back(static_cast<double>(split.chunk(k).count));
  }
  const auto repeat = [&](std::vector<double>& by_chunk) {
    if (by_chunk.empty()) return;
    by_chunk.resize(3 * P_ + halo_);
    for (std::size_t k = P_; k < by_chunk.size(); ++k) by_chunk[k] = by_chunk[k - P_];
  };
  repeat(transfer_s_);
  repeat(flops_);
  for (int r = 0; r < static_cast<int>(P_) && !until.is_never(); ++r) until_.push_back(until.of(r));
}

void RingWalk::close_ring(std::vector<double>& by_member, std::size_t width) const {
  for (std::size_t i = 0; i < width; ++i) {
    by_member[halo_ - 1 - i] = by_member[halo_ + P_ - 1 - i];
    by_member[halo_ + P_ + i] = by_member[halo_ + i];
  }
}

std::size_t RingWalk::wrapped(int k) const {
  const auto P = static_cast<int>(P_);
  return static_cast<std::size_t>((k % P + P) % P);
}

void RingWalk::add_hops(const cluster::AlphaBetaGamma& costs) {
  for (std::size_t r = 0; r < P_; ++r) {
    const auto& route = costs.routes->between(static_cast<int>(r), static_cast<int>((r + 1) % P_));
    latency_s_.push_back(route.latency_s);
    bandwidth_.push_back(route.alone_bytes_per_s());
  }
  const auto all_alike = [](const std::vector<double>& hops) {
    return std::ranges::all_of(hops, [&](double hop) { return hop == hops.front(); });
  };
  if (all_alike(latency_s_) && all_alike(bandwidth_)) latency_s_.clear();
  if (!latency_s_.empty()) hop_s_.resize(rounds_together);
}

double RingWalk::hop_s(std::size_t hop, std::size_t chunk) const {
  const auto bytes = static_cast<double>(split_.bytes(split_.chunk(static_cast<int>(chunk))));
  return latency_s_[hop] + bytes / bandwidth_[hop];
}

const double* RingWalk::hop_times(std::size_t first, std::size_t slot, std::size_t rounds_ago) {
  if (latency_s_.empty()) return transfer_s_.data() + P_ + first;
  std::vector<double>& times = hop_s_[slot];
  times.resize(P_ + 2 * halo_);
  const auto set = [&](std::size_t chunk) {
    const std::size_t hop = (chunk + P_ - first) % P_;
    times[halo_ + hop] = hop_s(hop, chunk);
  };
  if (rounds_ago == 0 || !split_.even()) {
    for (std::size_t chunk = 0; chunk < P_; ++chunk) set(chunk);
  } else {
    // Nearly equal chunks, the longer ones first: a hop carries a chunk that is so many places before its last one,
    // and has another length at the ends of either kind at most.
    const auto longer = static_cast<std::size_t>(split_.length()) % P_;
    for (std::size_t k = 1; k <= rounds_ago && longer > 0; ++k) {
      set(P_ - k);
      set((P_ + longer - k) % P_);
    }
  }
  close_ring(times, halo_);
  return times.data() + halo_;
}

void RingWalk::around(int sent_first, bool reduce) {
  const int rounds = static_cast<int>(P_) - 1;
  const auto together = static_cast<int>(until_.empty() ? halo_ : 1);
  for (int s = 0; s < rounds; s += together) {
    if (!until_.empty() && s % static_cast<int>(rounds_together) == 0 && beyond_until()) return;
    std::array<Round, rounds_together> next;
    const auto count = static_cast<std::size_t>(std::min(together, rounds - s));
    for (std::size_t k = 0; k < count; ++k) {
      const int round = s + static_cast<int>(k);
      next[k] = {hop_times(wrapped(sent_first - round), k, s == 0 ? 0 : static_cast<std::size_t>(together)),
                 flops_.data() + P_ + wrapped(sent_first - round - 1)};
    }
    if (until_.empty())
      go(std::span(next).first(count), reduce);
    else
      go_until(next[0], reduce);
  }
}

void RingWalk::go(std::span<const Round> rounds, bool reduce) {
  constexpr std::ptrdiff_t members_together = 512;  // whose numbers stay in the processor's nearest memory
  const auto P = static_cast<std::ptrdiff_t>(P_), count = std::ssize(rounds);
  close_ring(now_, rounds.size());
  for (std::ptrdiff_t first = 1 - count; first < P + count - 1; first += members_together)
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      // A round needs a member more at either side than the next one, and goes a member less far to the right.
      const std::ptrdiff_t beside = count - 1 - k;
      const std::ptrdiff_t from = std::max(first - k, -beside), to = std::min(first - k + members_together, P + beside);
      if (from < to) pass(rounds[static_cast<std::size_t>(k)], k % 2 == 0, from, to, reduce);
    }
  if (count % 2 == 1) std::swap(now_, next_);
}

void RingWalk::pass(const Round& round, bool forth, std::ptrdiff_t from, std::ptrdiff_t to, bool reduce) {
  const auto at = [&](std::vector<double>& by_member) {
    return by_member.data() + static_cast<std::ptrdiff_t>(halo_) + from;
  };
  const auto count = static_cast<std::size_t>(to - from);
  const double* const now = at(forth ? now_ : next_);
  double* const next = at(forth ? next_ : now_);
  if (reduce)
    pass_on_and_combine(count, now, round.transfer_s + from, round.flops + from, at(seconds_per_flop_),
                        at(communicate_s_), at(compute_s_), next);
  else
    pass_on(count, now, round.transfer_s + from, at(communicate_s_), next);
}

void RingWalk::go_until(const Round& round, bool reduce) {
  const auto at = [&](std::vector<double>& by_member) { return by_member.data() + halo_; };
  pass_on_until(P_, until_.data(), at(now_), round.transfer_s, at(communicate_s_), at(next_));
  if (reduce) combine_until(P_, until_.data(), round.flops, at(seconds_per_flop_), at(compute_s_), at(next_));
  close_ring(next_, 1);
  std::swap(now_, next_);
}

bool RingWalk::beyond_until() const {
  bool all = true;
  for (std::size_t r = 0; r < P_; ++r) all = all && now_[halo_ + r] > until_[r];
  return all;
}

std::vector<cluster::MemberTiming> RingWalk::timings() const {
  std::vector<cluster::MemberTiming> all;
  all.reserve(P_);
  for (std::size_t r = halo_; r < halo_ + P_; ++r) all.push_back({now_[r], compute_s_[r], communicate_s_[r]});
  return all;
}

}  // namespace simgrad::collectives

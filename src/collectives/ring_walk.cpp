#include "collectives/ring_walk.h"

#include <algorithm>
#include <cstdlib>
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
    : split_(split),
      P_(arrivals.size()),
      seconds_per_flop_(costs.seconds_per_flop),
      compute_s_(P_),
      communicate_s_(P_) {
  now_.reserve(P_ + 2);
  now_.push_back(arrivals.back());
  now_.insert(now_.end(), arrivals.begin(), arrivals.end());
  now_.push_back(arrivals.front());
  next_.resize(P_ + 2);
  if (costs.routes) add_hops(costs);
  for (int k = 0; k < split.chunks(); ++k) {
    if (latency_s_.empty()) transfer_s_.push_back(costs.transfer_s(0, 1, split.bytes(split.chunk(k))));
    flops_.push_back(static_cast<double>(split.chunk(k).count));
  }
  const auto repeat = [P = P_](std::vector<double>& by_chunk, std::size_t times) {
    by_chunk.resize(times * by_chunk.size());
    for (std::size_t k = P; k < by_chunk.size(); ++k) by_chunk[k] = by_chunk[k - P];
  };
  repeat(transfer_s_, 3);
  repeat(flops_, 2);
  for (int r = 0; r < static_cast<int>(P_) && !until.is_never(); ++r) until_.push_back(until.of(r));
}

std::size_t RingWalk::wrapped(int k) const {
  const auto P = static_cast<int>(P_);
  return static_cast<std::size_t>((k % P + P) % P);
}

void RingWalk::add_hops(const cluster::AlphaBetaGamma& costs) {
  for (std::size_t r = 0; r < P_; ++r) {
    const auto& route = costs.routes->between(static_cast<int>(r), static_cast<int>((r + 1) % P_));
    latency_s_.push_back(route.latency_s);
    bandwidth_.push_back(std::min(route.bandwidth_bytes_per_s, costs.flow_limit_bytes_per_s));
  }
  const auto all_alike = [](const std::vector<double>& hops) {
    return std::ranges::all_of(hops, [&](double hop) { return hop == hops.front(); });
  };
  if (all_alike(latency_s_) && all_alike(bandwidth_)) latency_s_.clear();
  if (!latency_s_.empty()) hop_s_.resize(P_ + 1);
}

double RingWalk::hop_s(std::size_t hop, std::size_t chunk) const {
  const auto bytes = static_cast<double>(split_.bytes(split_.chunk(static_cast<int>(chunk))));
  return latency_s_[hop] + bytes / bandwidth_[hop];
}

const double* RingWalk::hop_times(std::size_t first, bool first_round) {
  if (latency_s_.empty()) return transfer_s_.data() + P_ + first - 1;
  const auto set = [&](std::size_t hop) { hop_s_[hop + 1] = hop_s(hop, (first + hop) % P_); };
  if (first_round || !split_.even()) {
    for (std::size_t hop = 0; hop < P_; ++hop) set(hop);
  } else {
    // Nearly equal chunks, the longer ones first: a hop carries the chunk before that of the last round, which has
    // another length at two places at most.
    set(P_ - 1 - first);
    if (const auto longer = static_cast<std::size_t>(split_.length()) % P_; longer > 0)
      set((P_ + longer - 1 - first) % P_);
  }
  hop_s_.front() = hop_s_.back();
  return hop_s_.data();
}

void RingWalk::around(int sent_first, bool reduce) {
  constexpr int rounds_at_a_time = 8;
  const auto P = static_cast<int>(P_);
  for (int s = 0; s < P - 1; ++s) {
    if (!until_.empty() && s % rounds_at_a_time == 0 && beyond_until()) return;
    round(hop_times(wrapped(sent_first - s), s == 0), wrapped(sent_first - s - 1), reduce);
  }
}

void RingWalk::round(const double* transfer_s, std::size_t first_received, bool reduce) {
  const double* const now = now_.data() + 1;
  const double* const of_first_hop = transfer_s + 1;
  const double* const flops = flops_.data() + first_received;
  double* const next = next_.data() + 1;
  if (until_.empty() && reduce) {
    pass_on_and_combine(P_, now, of_first_hop, flops, seconds_per_flop_.data(), communicate_s_.data(),
                        compute_s_.data(), next);
  } else if (until_.empty()) {
    pass_on(P_, now, of_first_hop, communicate_s_.data(), next);
  } else {
    pass_on_until(P_, until_.data(), now, of_first_hop, communicate_s_.data(), next);
    if (reduce) combine_until(P_, until_.data(), flops, seconds_per_flop_.data(), compute_s_.data(), next);
  }
  next_.front() = next_[P_];
  next_.back() = next_[1];
  std::swap(now_, next_);
}

bool RingWalk::beyond_until() const {
  bool all = true;
  for (std::size_t r = 0; r < P_; ++r) all = all && now_[r + 1] > until_[r];
  return all;
}

std::vector<cluster::MemberTiming> RingWalk::timings() const {
  std::vector<cluster::MemberTiming> all;
  all.reserve(P_);
  for (std::size_t r = 0; r < P_; ++r) all.push_back({now_[r + 1], compute_s_[r], communicate_s_[r]});
  return all;
}

}  // namespace simgrad::collectives

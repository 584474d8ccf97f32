#include "collectives/ring_walk.h"

#include <algorithm>
#include <cstdlib>

#include "base/vectors.h"

namespace simgrad::collectives {

namespace {

/// start[r + 1], end[r + 1]: of the transfer from r to r + 1, which begins when both have come.
SIMGRAD_AVX2_IF_THERE
void transfer(std::size_t P, const double* __restrict now, const double* __restrict transfer_s,
              double* __restrict start, double* __restrict end) {
  for (std::size_t r = 0; r < P; ++r) {
    const double begin = now[r] < now[r + 1] ? now[r + 1] : now[r];
    start[r + 1] = begin;
    end[r + 1] = begin + transfer_s[r];
  }
}

/// Likewise, where every hop has a latency and a bandwidth of its own.
SIMGRAD_AVX2_IF_THERE
void transfer_by_hops(std::size_t P, const double* __restrict now, const double* __restrict bytes,
                      const double* __restrict latency_s, const double* __restrict bandwidth, double* __restrict start,
                      double* __restrict end) {
  for (std::size_t r = 0; r < P; ++r) {
    const double begin = now[r] < now[r + 1] ? now[r + 1] : now[r];
    start[r + 1] = begin;
    end[r + 1] = begin + (latency_s[r] + bytes[r] / bandwidth[r]);
  }
}

/// Each member waits for the transfer in, then for the one out.
SIMGRAD_AVX2_IF_THERE
void wait_for_both(std::size_t P, const double* __restrict start, const double* __restrict end,
                   double* __restrict communicate_s, double* __restrict now) {
  for (std::size_t r = 0; r < P; ++r) {
    const double received = end[r];
    const double sent = end[r + 1];
    const double over = received < sent ? sent : received;
    const double still = received < start[r + 1] ? start[r + 1] : received;
    communicate_s[r] += (received - start[r]) + (over - still);
    now[r] = over;
  }
}

SIMGRAD_AVX2_IF_THERE
void combine(std::size_t P, const double* __restrict flops, const double* __restrict seconds_per_flop,
             double* __restrict compute_s, double* __restrict now) {
  for (std::size_t r = 0; r < P; ++r) {
    const double takes = flops[r] * seconds_per_flop[r];
    compute_s[r] += takes;
    now[r] += takes;
  }
}

/// The part of a span before `until`.
inline double part_s(double from, double to, double until) {
  const double end = to < until ? to : until;
  return from < end ? end - from : 0.0;
}

// The two as above, of which the time before `until` alone counts.

SIMGRAD_AVX2_IF_THERE
void wait_for_both_until(std::size_t P, const double* __restrict until, const double* __restrict start,
                         const double* __restrict end, double* __restrict communicate_s, double* __restrict now) {
  for (std::size_t r = 0; r < P; ++r) {
    const double received = end[r];
    const double sent = end[r + 1];
    const double over = received < sent ? sent : received;
    const double still = received < start[r + 1] ? start[r + 1] : received;
    communicate_s[r] += part_s(start[r], received, until[r]) + part_s(still, over, until[r]);
    now[r] = over;
  }
}

SIMGRAD_AVX2_IF_THERE
void combine_until(std::size_t P, const double* __restrict until, const double* __restrict flops,
                   const double* __restrict seconds_per_flop, double* __restrict compute_s, double* __restrict now) {
  for (std::size_t r = 0; r < P; ++r) {
    const double combined = now[r] + flops[r] * seconds_per_flop[r];
    compute_s[r] += part_s(now[r], combined, until[r]);
    now[r] = combined;
  }
}

}  // namespace

RingWalk::RingWalk(const Split& split, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                   const cluster::Until& until)
    : P_(arrivals.size()),
      seconds_per_flop_(costs.seconds_per_flop),
      now_(arrivals.begin(), arrivals.end()),
      compute_s_(P_),
      communicate_s_(P_),
      start_(P_ + 1),
      end_(P_ + 1) {
  now_.push_back(now_.front());
  for (int twice = 0; twice < 2; ++twice)
    for (int k = 0; k < split.chunks(); ++k) {
      const std::int64_t bytes = split.bytes(split.chunk(k));
      transfer_s_.push_back(costs.transfer_s(0, 1, bytes));
      bytes_.push_back(static_cast<double>(bytes));
      flops_.push_back(static_cast<double>(split.chunk(k).count));
    }
  if (costs.routes) add_hops(costs);
  for (int r = 0; r < static_cast<int>(P_) && !until.is_never(); ++r) until_.push_back(until.of(r));
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
}

void RingWalk::around(int sent_first, bool reduce) {
  const auto P = static_cast<int>(P_);
  const auto wrapped = [P](int k) { return static_cast<std::size_t>((k % P + P) % P); };
  for (int s = 0; s < P - 1; ++s) {
    const std::size_t first = wrapped(sent_first - s);
    if (latency_s_.empty())
      transfer(P_, now_.data(), transfer_s_.data() + first, start_.data(), end_.data());
    else
      transfer_by_hops(P_, now_.data(), bytes_.data() + first, latency_s_.data(), bandwidth_.data(), start_.data(),
                       end_.data());
    start_[0] = start_[P_];
    end_[0] = end_[P_];
    end_round(wrapped(sent_first - s - 1), reduce);
  }
}

void RingWalk::end_round(std::size_t first_received, bool reduce) {
  const double* const flops = flops_.data() + first_received;
  if (until_.empty()) {
    wait_for_both(P_, start_.data(), end_.data(), communicate_s_.data(), now_.data());
    if (reduce) combine(P_, flops, seconds_per_flop_.data(), compute_s_.data(), now_.data());
  } else {
    wait_for_both_until(P_, until_.data(), start_.data(), end_.data(), communicate_s_.data(), now_.data());
    if (reduce) combine_until(P_, until_.data(), flops, seconds_per_flop_.data(), compute_s_.data(), now_.data());
  }
  now_[P_] = now_[0];
}

std::vector<cluster::MemberTiming> RingWalk::timings() const {
  std::vector<cluster::MemberTiming> all;
  all.reserve(P_);
  for (std::size_t r = 0; r < P_; ++r) all.push_back({now_[r], compute_s_[r], communicate_s_[r]});
  return all;
}

}  // namespace simgrad::collectives

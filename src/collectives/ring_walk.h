/// The rounds of a ring for thousands of members, in loops over arrays: equal to a ScheduleWalk, number by number.
#pragma once

#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/split.h"

namespace simgrad::collectives {

class RingWalk {
 public:
  /// until: spans count up to it. The walk may end in a round in which every member is beyond its own, and then says
  /// only that their ends are later.
  RingWalk(const Split& split, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
           const cluster::Until& until);

  /// P - 1 rounds. In the first round, member r sends chunk r + sent_first to r + 1; in later rounds, the chunk
  /// received in the round before.
  void around(int sent_first, bool reduce);

  std::vector<cluster::MemberTiming> timings() const;

 private:
  std::size_t wrapped(int k) const;
  /// The hops' latencies and bandwidths, unless all hops are alike.
  void add_hops(const cluster::AlphaBetaGamma& costs);
  double hop_s(std::size_t hop, std::size_t chunk) const;
  /// The time of each hop's transfer in a round in which hop r carries chunk r + first; hop -1 is at [0].
  const double* hop_times(std::size_t first, bool first_round);
  void round(const double* transfer_s, std::size_t first_received, bool reduce);
  bool beyond_until() const;

  Split split_;
  std::size_t P_;
  std::vector<double> transfer_s_;  ///< each chunk's over the first hop, thrice over: a round reads one stretch of it
  std::vector<double> latency_s_;   ///< of the hop from each member to the next; empty: all hops are alike
  std::vector<double> bandwidth_;   ///< likewise
  std::vector<double> hop_s_;  ///< the time of each hop's transfer in the present round; hop P - 1 once more before
  std::vector<double> flops_;  ///< to combine each chunk, twice over
  std::vector<double> seconds_per_flop_;
  std::vector<double> until_;  ///< each member's; empty: never
  std::vector<double> now_;    ///< member P - 1 once more before the first, and member 0 behind the last
  std::vector<double> next_;   ///< likewise, after the round
  std::vector<double> compute_s_;
  std::vector<double> communicate_s_;
};

}  // namespace simgrad::collectives

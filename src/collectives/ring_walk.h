/// The rounds of a ring for thousands of members, in loops over arrays: equal to a ScheduleWalk, number by number.
#pragma once

#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/split.h"

namespace simgrad::collectives {

class RingWalk {
 public:
  RingWalk(const Split& split, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
           const cluster::Until& until);

  /// P - 1 rounds. In the first round, member r sends chunk r + sent_first to r + 1; in later rounds, the chunk
  /// received in the round before.
  void around(int sent_first, bool reduce);

  std::vector<cluster::MemberTiming> timings() const;

 private:
  void end_round(std::size_t first_received, bool reduce);
  /// The hops' latencies and bandwidths, unless all hops are alike.
  void add_hops(const cluster::AlphaBetaGamma& costs);

  std::size_t P_;
  std::vector<double> transfer_s_;  ///< each chunk's over the first hop, twice over: a round reads one stretch of it
  std::vector<double> bytes_;       ///< each chunk's, twice over
  std::vector<double> latency_s_;   ///< of the hop from each member to the next; empty: all hops are alike
  std::vector<double> bandwidth_;   ///< likewise
  std::vector<double> flops_;       ///< to combine each chunk, twice over
  std::vector<double> seconds_per_flop_;
  std::vector<double> until_;  ///< each member's; empty: never
  std::vector<double> now_;    ///< member 0 once more at the end
  std::vector<double> compute_s_;
  std::vector<double> communicate_s_;
  std::vector<double> start_, end_;  ///< times of the transfer from member r - 1 to member r; r = P is r = 0
};

}  // namespace simgrad::collectives

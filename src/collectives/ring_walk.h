/// The rounds of a ring for thousands of members, in loops over arrays: equal to a ScheduleWalk, number by number.
#pragma once

#include <cstddef>
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
  /// Rounds that go through the members side by side, some of the members at a time. A halo is as wide: members once
  /// more at the other end of the ring, whose numbers are computed twice.
  static constexpr std::size_t rounds_together = 8;

  /// By member, member 0 first; a halo's members may be read, too.
  struct Round {
    const double* transfer_s = nullptr;  ///< of the hop to the next member
    const double* flops = nullptr;       ///< to combine what the member receives
  };

  std::size_t wrapped(int k) const;
  /// The hops' latencies and bandwidths, unless all hops are alike.
  void add_hops(const cluster::AlphaBetaGamma& costs);
  double hop_s(std::size_t hop, std::size_t chunk) const;
  /// The time of each hop's transfer in a round in which hop r carries chunk r + first.  slot: where it is kept.
  /// rounds_ago: since what is there; 0: nothing is.
  const double* hop_times(std::size_t first, std::size_t slot, std::size_t rounds_ago);
  /// Fills so much of both halos.
  void close_ring(std::vector<double>& by_member, std::size_t width) const;
  /// At most `halo_` rounds, of which all time counts.
  void go(std::span<const Round> rounds, bool reduce);
  /// Some members' part in one of them.  forth: from `now_` to `next_`; else back.
  void pass(const Round& round, bool forth, std::ptrdiff_t from, std::ptrdiff_t to, bool reduce);
  void go_until(const Round& round, bool reduce);
  bool beyond_until() const;

  Split split_;
  std::size_t P_;
  std::size_t halo_;
  std::vector<double> transfer_s_;  ///< each chunk's over the first hop, thrice over: a round reads one stretch of it
  std::vector<double> latency_s_;   ///< of the hop from each member to the next; empty: all hops are alike
  std::vector<double> bandwidth_;   ///< likewise
  std::vector<std::vector<double>> hop_s_;  ///< by slot, with halos: the time of each hop's transfer in a round
  std::vector<double> flops_;               ///< to combine each chunk, thrice over
  std::vector<double> until_;               ///< each member's; empty: never

  // By member, with halos.

  std::vector<double> now_;
  std::vector<double> next_;  ///< after a round
  std::vector<double> seconds_per_flop_;
  std::vector<double> compute_s_;
  std::vector<double> communicate_s_;
};

}  // namespace simgrad::collectives

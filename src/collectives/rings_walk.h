/// The rounds of several rings for thousands of members, in loops over arrays: as a ScheduleWalk.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/split.h"

namespace simgrad::collectives {

/// The rings on one of a member's two ways: to its neighbour in the host, or to another host.
struct RingsOfWay {
  int target = -1;
  int source = -1;
  std::vector<int> sent, received;  ///< ring by ring
};

/// How several rings cut a vector, and go through the members.
struct RingsAtOnce {
  std::vector<std::array<RingsOfWay, 2>> ways;     ///< by member
  std::vector<std::vector<int>> places;            ///< by ring and member
  std::vector<std::vector<std::int64_t>> numbers;  ///< by ring and place: of the part that ends or begins there
  int reducing = 0, gathering = 0;                 ///< rounds

  int members() const { return static_cast<int>(ways.size()); }
  /// The places between a member and that whose part it sends on each ring in a round.
  int ago(int round) const { return round < reducing ? round + 1 : round - reducing; }
};

/// Members do not die, and links are not shared.  Cost: rounds x members, and x rings where parts differ in length.
/// Where all members have come at once, and parts are alike, the rounds are walked once.
class RingsWalk {
 public:
  RingsWalk(const RingsAtOnce& rings, const values::WireFormat& wire, const cluster::AlphaBetaGamma& costs,
            std::span<const double> arrivals, const cluster::Until& until);

  std::vector<cluster::MemberTiming> timings();

 private:
  /// The transfers from the members by one way.
  struct Hops {
    std::vector<int> target, source;  ///< -1: none
    std::vector<int> ring;            ///< by member: the one on which it sends this way; -1: the others, or none
    std::vector<double> latency_s, bandwidth_bytes_per_s;
    std::vector<double> numbers, seconds;  ///< in the round
  };

  void add_hops(const cluster::AlphaBetaGamma& costs);
  void find_transfers(int round);
  void step(bool reduces);
  void wait(std::size_t member, double start_s, double over_s);
  bool in_lockstep() const;
  void repeat(int rounds);

  const RingsAtOnce& rings_;
  const values::WireFormat& wire_;
  cluster::Until until_;
  bool even_ = true;  ///< whether all parts have one length
  std::array<Hops, 2> hops_;
  std::vector<std::vector<std::int64_t>> twice_;  ///< by ring and place, twice around
  std::vector<double> seconds_per_flop_;
  std::vector<cluster::MemberTiming> timings_, last_;
};

}  // namespace simgrad::collectives

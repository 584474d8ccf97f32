/// The time of a ring in slices: each of a hop's slices follows the one before it, and goes on as soon as it has come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/split.h"

namespace simgrad::collectives {

/// The way of the chunks around a ring: in round s member r sends chunk r + first - s to its right.
struct RingOfChunks {
  Split split;
  int first = 0;
  int rounds = 0;
  int reducing = 0;  ///< the first so many rounds combine what they receive
  int slices = 1;    ///< of each chunk, at most one a number

  int members() const { return split.chunks(); }
  /// The chunk that a member sends in a round.
  int chunk(int round, int member) const {
    const int P = members();
    return ((member + first - round) % P + P) % P;
  }
  Stretch slice(int chunk, int slice) const {
    const Stretch all = split.chunk(chunk);
    const std::int64_t each = all.count / slices, longer = all.count % slices;
    return {all.first + slice * each + std::min<std::int64_t>(slice, longer), each + (slice < longer ? 1 : 0)};
  }
};

/// The hops of a ring, each from a place to the next, and the members at its places.
struct RingHops {
  std::vector<double> latency_s, bandwidth_bytes_per_s;
  std::vector<double> seconds_per_flop;

  /// The hops between neighbouring members, in the members' order.
  explicit RingHops(const cluster::AlphaBetaGamma& costs);
  RingHops() = default;
};

/// A member receives slice after slice, combines each, and sends it on, in their order. The sending of a slice begins
/// when it is there and the bytes of the one before have left; it comes a latency after its last byte has left. A
/// member that finds its right neighbour absent when its first slice would have left goes on when that one has come.
///
/// Cost: rounds x slices x members.
class SliceWalk {
 public:
  SliceWalk(const RingOfChunks& ring, RingHops hops, std::span<const double> arrivals, const cluster::Until& until);

  // As the functions of cluster::CollectiveTiming; one of them, once.

  std::vector<cluster::MemberTiming> timings();
  cluster::SentByPair sent();
  double show(cluster::TimingObserver& observer);

 private:
  /// A slice on its hop.
  struct Flight {
    double start_s = 0.0;  ///< both ends have come, and the slice before has left
    double end_s = 0.0;    ///< it has come
  };

  void walk();
  void step(int number);
  void receive(std::size_t member, const Flight& in, const Stretch& slice, bool reduces);
  void pace(std::size_t member);
  void send(std::size_t member, const Stretch& slice, std::size_t place);
  void finish(std::size_t member);
  void communicate(std::size_t member, std::size_t peer, std::int64_t bytes, double from, double to);
  bool all_past_the_cut() const;
  std::size_t left_of(std::size_t member) const { return member == 0 ? P_ - 1 : member - 1; }
  std::size_t right_of(std::size_t member) const { return member + 1 == P_ ? 0 : member + 1; }
  std::size_t at(std::size_t place, std::size_t member) const { return place * P_ + member; }

  RingOfChunks ring_;
  std::size_t P_;
  RingHops hops_;
  cluster::Until until_;
  std::vector<double> arrivals_;
  std::vector<Flight> before_, now_;  ///< by slice and member, of the round before and of this one
  std::vector<double> posted_s_;      ///< by member: when it posted its last slice
  std::vector<std::int64_t> posted_bytes_;
  std::vector<cluster::MemberTiming> timings_;
  cluster::SentByPair* sent_ = nullptr;
  cluster::TimingObserver* observer_ = nullptr;
};

}  // namespace simgrad::collectives

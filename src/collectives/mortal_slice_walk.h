/// The time of a ring in slices whose members may die.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/slice_walk.h"

namespace simgrad::collectives {

/// As a SliceWalk, but each member does what an actor does that goes message by message (sliced_ring.cpp). When it
/// comes it calls its left neighbour, and with each slice its right one, and stands still from then on if it finds one
/// of them dead; likewise where it waits for a slice that is broken. While it waits only for a slice of its own
/// to leave, it does not notice that the slice is broken.
class MortalSliceWalk {
 public:
  /// costs: with deaths.
  MortalSliceWalk(const RingOfChunks& ring, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                  const cluster::Until& until);

  // As the functions of cluster::CollectiveTiming; one of them, once.

  std::vector<cluster::MemberTiming> timings();
  cluster::SentByPair sent();
  double show(cluster::TimingObserver& observer);

 private:
  static constexpr double never = cluster::Death::never;

  /// A slice on its hop.
  struct Flight {
    double start_s = never;  ///< both ends have come, and the slice before has left
    double over_s = never;   ///< it has come, or is broken
    bool broken = false;
  };

  /// Returns the time until which everything is shown.
  double walk();
  void begin();
  void step(int number);
  bool receive(int member, const Flight& in, const Stretch& slice, bool reduces);
  bool pace(int member, const Flight& sending);
  bool send(int member, const Stretch& slice, std::size_t place);
  void finish(int member);
  /// Blocks until the transfer is over.  Returns whether the member goes on, as the functions above.
  bool wait(int member, int peer, const Flight& flight, std::int64_t bytes);
  /// Blocks until that time, whatever becomes of the transfer.
  bool wait_until(int member, int peer, const Flight& flight, std::int64_t bytes, double at_s);
  bool block(int member, int peer, double start_s, double end_s, std::int64_t bytes);
  /// Returns false.
  bool stand_still(int member);
  bool nobody_moves() const;
  double& now(int member) { return timings_[static_cast<std::size_t>(member)].end_s; }
  int left_of(int member) const { return member == 0 ? P_ - 1 : member - 1; }
  int right_of(int member) const { return member + 1 == P_ ? 0 : member + 1; }
  std::size_t at(std::size_t place, int member) const {
    return place * static_cast<std::size_t>(P_) + static_cast<std::size_t>(member);
  }

  const RingOfChunks& ring_;
  int P_;
  RingHops hops_;
  const cluster::Deaths& deaths_;
  cluster::Until until_;
  std::vector<double> arrivals_;
  std::vector<Flight> before_, now_;  ///< by slice and member, of the round before and of this one
  std::vector<double> posted_s_;      ///< by member: when it posted its last slice
  std::vector<std::int64_t> posted_bytes_;
  std::vector<cluster::MemberTiming> timings_;  ///< infinite ends: members that do nothing more
  cluster::SentByPair* sent_ = nullptr;
  cluster::TimingObserver* observer_ = nullptr;
};

}  // namespace simgrad::collectives

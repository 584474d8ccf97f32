/// Ranks that are simulated for others, whose times, messages and memory are the same.
#pragma once

#include <functional>
#include <vector>

namespace simgrad::cluster {

/// The way in which members of a group exchange what they have.
enum class Meets {
  freely,   ///< some may do what others do not
  alike,    ///< each does what the others do: around a ring, or in rounds with the one whose number differs in one bit
  in_rings  ///< around a ring of all of them
};

struct StandIns {
  std::vector<int> of;     ///< by rank: the rank that is simulated for it; itself if it is one that is
  std::vector<int> place;  ///< by rank: its place among those that are simulated; -1: it is not
  int times = 1;           ///< ranks that each simulated one stands for, itself included
  /// Calls visit with every pair of ranks of which one sends to the other as those of this pair do, itself included.
  std::function<void(int source, int target, const std::function<void(int, int)>& visit)> images;

  bool simulates(int rank) const { return of[static_cast<std::size_t>(rank)] == rank; }
};

}  // namespace simgrad::cluster

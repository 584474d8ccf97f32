/// The memory that a simulation takes beside the numbers of its training.
#pragma once

#include <cstdint>

namespace simgrad::cluster {

struct Footprint {
  std::int64_t actors = 0;  ///< ranks, and actors beside them
  std::int64_t pairs = 0;   ///< of ranks of which one sends to the other

  /// As measured: an actor touches some 16 KiB of stack and of SimGrid's memory, and a pair takes 1 KiB for its
  /// channel, its route and a message under way.
  double bytes() const { return 16'384.0 * static_cast<double>(actors) + 1'024.0 * static_cast<double>(pairs); }
};

}  // namespace simgrad::cluster

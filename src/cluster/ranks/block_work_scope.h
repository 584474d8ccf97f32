/// The work of a rank, block by block, beside a ring that carries the blocks.
#pragma once

namespace simgrad::cluster {

class Communicator;

/// While it lives, a rank computes with one block after the other, for so many seconds each, from the call of a ring on
/// the communicator on: the ring brings the numbers of each block but the first, or takes its sums away. The rank's
/// main actor computes, and the ring is on a side stream (collectives/block_work.h says what waits for what). It is one
/// ring whatever the number of NICs, for a rank sends whole blocks to its neighbour.
class BlockWorkScope {
 public:
  /// seconds: of each block, at the rank's present speed; 0: the ring does not wait for any work.
  BlockWorkScope(const Communicator& comm, double seconds);
  ~BlockWorkScope();
  BlockWorkScope(const BlockWorkScope&) = delete;
  BlockWorkScope& operator=(const BlockWorkScope&) = delete;

 private:
  const Communicator& comm_;
};

/// Whether a scope is there.
bool carries_blocks(const Communicator& comm);
/// The seconds that the scope names; 0: none does.
double block_s(const Communicator& comm);

}  // namespace simgrad::cluster

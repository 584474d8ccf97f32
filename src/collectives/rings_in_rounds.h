/// A ring's schedule for several rings at once, in rounds: each ring carries a part of every chunk, and leaves a host
/// by another NIC.
///
/// Source: NVIDIA, NCCL (a channel for each NIC of a host); P. Patarasuk, X. Yuan, JPDC 69, 2009 (each ring).
/// Cost: as one ring whose hops between hosts have the bandwidth of all the NICs: k rings, P members, M bytes:
/// (P-1) (alpha + M/P/k beta), where links inside hosts carry (k-1)/k of a chunk in less time.
#pragma once

#include <memory>
#include <vector>

#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

/// The rounds of a ring: `reducing` of them combine what is received and the others gather; member r keeps chunk
/// r + shift of the former, or brings it to the latter.
struct RingRounds {
  int reducing = 0;
  int gathering = 0;
  int shift = 0;
};

/// ring: the schedule of one ring, one of ring.h's.  orders: of the members, by ring, no more rings than a host has
/// members (ring_orders.h).  host_of: by member. Members keep what the one ring leaves them, added in other orders.
std::shared_ptr<const JointSchedule> in_rings(std::shared_ptr<const JointSchedule> ring, const RingRounds& rounds,
                                              std::vector<std::vector<int>> orders, const std::vector<int>& host_of);

}  // namespace simgrad::collectives

/// A ring whose chunks travel in slices, as NCCL's rings do: a hop's latency is paid by those who go over it, not by
/// every member in every round.
///
/// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69,
/// 2009 (its pipelined form); NVIDIA, NCCL, src/device/all_reduce.h and primitives (slices of a chunk).
/// Cost: k slices of c bytes a chunk, n rounds (2(P-1) in an allreduce, P-1 in a half of it), members that come at
/// once: the longest of all walks over m + 1 consecutive hops, m < n, each with the sum of their alpha + c beta, and
/// besides (n - m) k - 1 times the c beta of the slowest of them. With long latencies that is the alpha of n hops, with
/// many bytes n k c beta of the slowest hop.
#pragma once

#include <memory>

#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

/// ring: one of ring.h's schedules.  first, reducing: as RingOfChunks has them.  slices: at least 2; one where chunks
/// are shorter. Not where slices share links: then they go message by message.
std::shared_ptr<const JointSchedule> in_slices(std::shared_ptr<const JointSchedule> ring, int first, int reducing,
                                               std::int64_t slices);

}  // namespace simgrad::collectives

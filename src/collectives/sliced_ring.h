/// A ring whose chunks travel in slices, as NCCL's rings do: a hop's latency is paid by those who go over it, not by
/// every member in every round.
///
/// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69,
/// 2009 (its pipelined form); NVIDIA, NCCL, src/device/all_reduce.h and primitives (slices of a chunk).
/// Cost: with k slices of each of P equal chunks, c bytes a slice, hops of latency a and bandwidth B that all members
/// come to at once: a slice waits for its hop's one before or for its own last hop, so that the end is the latest over
/// all walks of m + 1 consecutive hops, m < n = 2(P-1) (allreduce): their a + c/B, and (n - m) k - 1 - ... more slices
/// on the slowest of them. Long latencies: 2(P-1) hops' a; many bytes: n k c / B of the slowest hop.
#pragma once

#include <memory>

#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

/// ring: one of ring.h's schedules.  first, reducing: as RingOfChunks has them.  slices: at least 2; one where chunks
/// are shorter. Not where slices share links: then they go message by message.
std::shared_ptr<const JointSchedule> in_slices(std::shared_ptr<const JointSchedule> ring, int first, int reducing,
                                               std::int64_t slices);

}  // namespace simgrad::collectives

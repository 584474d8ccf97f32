/// Ring allreduce: a reduce-scatter, then an all-gather, around a ring.
///
/// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69, 2009.
/// Cost: 2(P-1) steps; 2(P-1) alpha + 2(P-1)/P M beta + (P-1)/P M gamma; 2(P-1)/P M bytes sent a rank.
#pragma once

#include "cluster/communicator.h"
#include "values/tensor.h"

namespace simgrad::collectives {

/// The sum of every member's x, the same on all of them, bit for bit.  x: (d), any d >= 0.  Returns (d).
/// Virtual time: the cost above where P divides d; else the longest chunk in flight counts, at each step.
/// Errors: cluster::PeerLost.
values::Tensor ring_allreduce(const cluster::Communicator& comm, const values::Tensor& x);

}  // namespace simgrad::collectives

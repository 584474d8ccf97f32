/// All-to-all: every member has a chunk for every other.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005 (pairwise exchange).
/// Cost: (P-1) (alpha + M/P beta).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "collectives/split.h"
#include "values/tensor.h"

namespace simgrad::collectives {

/// x: P chunks as Split cuts them, chunk j for member j.  Returns chunk r of every member's x on member r, in the order
/// of the members.  All x are equally long.
values::Tensor all_to_all(const cluster::Communicator& comm, const values::Tensor& x);

/// An all-to-all whose chunks have lengths of their own.  lengths: of the chunk for each member, whoever sends it; all
/// members know them.
values::Tensor all_to_all_v(const cluster::Communicator& comm, const values::Tensor& x,
                            std::span<const std::int64_t> lengths);
/// The way back.  x: P chunks of lengths[r] on member r.  Returns chunk r of every member's x.
values::Tensor all_to_all_v_back(const cluster::Communicator& comm, const values::Tensor& x,
                                 std::span<const std::int64_t> lengths);

/// An all-to-all of parts of any lengths, which only their senders know.  parts: one for each member.
/// even: what a member brings where all parts are alike; all members know it, and the record counts calls under it.
/// Returns the part for this member of each of them.  Virtual time: in each round the longer of a member's two
/// messages.
std::vector<values::Tensor> all_to_all_v(const cluster::Communicator& comm, const std::vector<values::Tensor>& parts,
                                         const Extent& even);

}  // namespace simgrad::collectives

/// All-to-all: every member has a chunk for every other.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005 (pairwise exchange).
/// Cost: (P-1) (alpha + M/P beta).
#pragma once

#include "cluster/ranks/communicator.h"
#include "values/tensor.h"

namespace simgrad::collectives {

/// x: P chunks as Split cuts them, chunk j for member j.  Returns chunk r of every member's x on member r, in the order
/// of the members.  All x are equally long.
values::Tensor all_to_all(const cluster::Communicator& comm, const values::Tensor& x);

}  // namespace simgrad::collectives

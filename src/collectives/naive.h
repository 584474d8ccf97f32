/// Flat reduce to member 0, then flat broadcast: the baseline of the other allreduces.
///
/// Cost: 2 alpha + 2(P-1) M beta + (P-1) M gamma when all arrive at once; else the gather ends as the members' messages
/// share the link of member 0, each from when it comes.
#pragma once

#include "collectives/allreduce.h"

namespace simgrad::collectives {

struct Naive : Allreduce {
  static constexpr base::About about{.kind = "naive",
                                     .summary = "everybody sends to one member, which sends the result to everybody",
                                     .cost = "2 alpha + 2(P-1) M beta + (P-1) M gamma",
                                     .source = ""};

  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;
};

}  // namespace simgrad::collectives

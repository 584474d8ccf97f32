/// Broadcast for long vectors: scatter it along a binomial tree, then all-gather it around a ring.
///
/// Source: M. Barnett, L. Shuler, S. Gupta, D. Payne, R. van de Geijn, J. Watts, "Building a High-Performance
/// Collective Communication Library", SC 1994.
#pragma once

#include "collectives/broadcast.h"

namespace simgrad::collectives {

struct VanDeGeijnBroadcast : Broadcast {
  static constexpr base::About about{
      .kind = "van_de_geijn",
      .summary = "binomial scatter, then all-gather around a ring: for long vectors",
      .cost = "(lg P + P-1) alpha + 2(P-1)/P M beta",
      .source = "M. Barnett et al., Building a High-Performance Collective Communication Library, 1994"};

  cluster::Packet operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                             std::int64_t length) const override;
};

}  // namespace simgrad::collectives

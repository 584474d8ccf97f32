/// Pipelined chains: from member to member, chunk by chunk.
///
/// Source: J. L. Traeff, A. Ripke, "Optimal broadcast for fully connected processor-node networks", JPDC 68, 2008
/// (linear pipelines).
#pragma once

#include "collectives/broadcast.h"

namespace simgrad::collectives {

struct ChainBroadcast : Broadcast {
  static constexpr base::About about{
      .kind = "chain",
      .summary = "from member to member in chunks, all links busy once the first chunk is through",
      .cost = "(P-2+c) (alpha + M beta/c) with c chunks",
      .source = "J. L. Traeff, A. Ripke, Optimal broadcast for fully connected processor-node networks, 2008"};

  std::int64_t chunks = 16;

  void describe(base::Describer& d) override;
  cluster::Packet operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                             std::int64_t length) const override;
};

/// The sum of all members' vectors, on the root; no tensor elsewhere. The member before the root begins, and each adds
/// its own chunk to that which it passes on.  x: (d).
/// Virtual time: (P-2+c) (alpha + M beta/c + M gamma/c) with c chunks when all arrive at once.
/// Errors: cluster::PeerLost.
values::Tensor chain_reduce(const cluster::Communicator& comm, int root, const values::Tensor& x, std::int64_t chunks);

}  // namespace simgrad::collectives

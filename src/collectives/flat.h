/// Flat broadcast and reduce: the root exchanges with every other member at once, sharing its link fairly among them.
///
/// Cost with n other members: alpha + n M beta each; the reduce adds n M gamma at the root after the last arrival.
#pragma once

#include <optional>

#include "collectives/broadcast.h"

namespace simgrad::collectives {

/// The root's packet, on every member.  packet: the root's; ignored elsewhere.  Errors: cluster::PeerLost.
cluster::Packet flat_broadcast(const cluster::Communicator& comm, int root, cluster::Packet packet);

/// The root's side of a reduce: the sum of all other members' vectors, in the order of their ranks.  The receives are
/// posted at construction, so that data flow while the root is busy.
class FlatReduce {
 public:
  FlatReduce(const cluster::Communicator& comm, int root);
  /// Blocks until all have arrived.  Returns them in the order of their ranks; nothing is added.
  std::vector<values::Tensor> terms();
  /// Blocks until all have arrived, then adds.  At least one other member.  Errors: cluster::PeerLost.
  /// flops_each: to add one vector; left out: one a number.
  values::Tensor sum(std::optional<double> flops_each = {});
  /// As sum(), with the root's own in front, combined otherwise than by adding.
  values::Tensor combine(values::Combination how, values::Tensor own, std::optional<double> flops_each = {});

 private:
  const cluster::Communicator& comm_;
  std::vector<cluster::Pending> receives_;
};

struct FlatBroadcast : Broadcast {
  static constexpr base::About about{.kind = "flat",
                                     .summary = "the root sends to all others at once, sharing its link among them",
                                     .cost = "alpha + (P-1) M beta",
                                     .source = ""};

  cluster::Packet operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                             std::int64_t length) const override;
};

}  // namespace simgrad::collectives

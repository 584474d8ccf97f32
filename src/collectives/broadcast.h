/// Broadcast: the root's packet, on every member.
#pragma once

#include "base/describe.h"
#include "base/registry.h"
#include "cluster/ranks/communicator.h"

namespace simgrad::collectives {

/// An algorithm; its fields are its options.
class Broadcast : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// packet: the root's, its tensor (length); ignored elsewhere. Returns it on every member.
  /// Errors: cluster::PeerLost.
  virtual cluster::Packet operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                                     std::int64_t length) const = 0;
};

/// flat, binomial, chain, van_de_geijn
const base::Registry<Broadcast>& broadcasts();

}  // namespace simgrad::collectives

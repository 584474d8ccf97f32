/// Star: every host has one full-duplex NIC to a switch that never blocks.
///
/// Cost: a message takes latency + bytes / bandwidth; flows contend only at a sender's or a receiver's NIC.
#pragma once

#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

struct Star : Topology {
  static constexpr base::About about{
      .kind = "star",
      .summary = "every host has one full-duplex NIC to a switch that never blocks",
      .cost = "latency + bytes / bandwidth; contention only at the NICs",
      .source = ""};

  std::vector<simgrid::s4u::Host*> build(const Machine& machine, int hosts) const override;
};

}  // namespace simgrad::cluster

/// The cores of one host, which exchange everything through one memory.
#pragma once

#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

/// cluster.bandwidth is the memory's, shared by all cores that copy at a time; cluster.latency is one way, core to
/// core. One core alone copies at cluster.flow_limit. The one link is memory-0. Each rank, servers too, has a core.
struct SharedMemory : Topology {
  static constexpr base::About about{.kind = "shared_memory",
                                     .summary = "the cores of one host; all messages share the bandwidth of its memory",
                                     .cost = "latency + m bytes / bandwidth where m messages are under way at a time",
                                     .source = ""};

  bool even_latencies() const override { return true; }
  std::vector<simgrid::s4u::Host*> build(const Blueprint& blueprint) const override;
};

}  // namespace simgrad::cluster

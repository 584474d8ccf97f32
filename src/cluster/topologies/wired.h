/// Topologies that are graphs: hosts and switches, full-duplex cables between them, and one path from host to host.
#pragma once

#include <string>
#include <vector>

#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

/// A full-duplex cable between two nodes.
struct Cable {
  int from = 0;
  int to = 0;
  std::string kind;                    ///< "nic", "core": the class of the link
  double bandwidth_bytes_per_s = 0.0;  ///< each direction
  double latency_s = 0.0;              ///< one way
};

/// Nodes are numbered, hosts first. SimGrid is given the path of every two hosts, so that hosts are at most 1024.
class Wired : public Topology {
 public:
  static constexpr std::int64_t most_hosts = 1024;
  static constexpr double most_route_links = 2e7;  ///< in all routes together: a second or two, and 200 MB

  /// All cables, those too that no host uses.
  virtual std::vector<Cable> cables(const Blueprint& blueprint) const = 0;
  /// The nodes on the way from a host to another, both included. Where no cable joins two consecutive nodes, the hop
  /// takes no time.
  virtual std::vector<int> path(const Blueprint& blueprint, int from, int to) const = 0;

  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  std::vector<simgrid::s4u::Host*> build(const Blueprint& blueprint) const final;
};

}  // namespace simgrad::cluster

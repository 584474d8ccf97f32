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

/// Nodes are numbered, hosts first. A path is computed whenever a message asks for it; memory is for cables only.
class Wired : public Topology {
 public:
  static constexpr std::int64_t most_hosts = most_ranks;
  static constexpr double most_links = 1e6;  ///< full-duplex ones: a second or two, and 1 GB

  /// All cables, those too that no host uses.
  virtual std::vector<Cable> cables(const Blueprint& blueprint) const = 0;
  /// The nodes on the way from a host to another, both included. Where no cable joins two consecutive nodes, the hop
  /// takes no time. Called for every message: its cost is that of its own nodes, not of all hosts.
  virtual std::vector<int> path(const Blueprint& blueprint, int from, int to) const = 0;

  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  /// The hosts ask this object for paths as long as they live.
  std::vector<simgrid::s4u::Host*> build(const Blueprint& blueprint) const final;

 protected:
  /// The reason why so many links are too many, or empty.  given: what makes them; remedy: how to have fewer.
  static std::string links_refusal(double links, const std::string& given, const std::string& remedy);
};

}  // namespace simgrad::cluster

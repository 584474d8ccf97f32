/// Dragonfly: groups of routers, all joined to all within a group, and every two groups by one long cable.
///
/// Source: J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008.
#pragma once

#include <optional>

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// Links: nic-i from host i to its router, half of cluster.latency each; local-j between routers of a group; global-j
/// between groups, dealt to a group's routers in turn. A message takes the shortest way: at most local, global, local.
/// It is cabled here and not by SimGrid's own zone of that name, which crashes in 3.32 with more groups than routers.
struct Dragonfly : Wired {
  static constexpr base::About about{
      .kind = "dragonfly",
      .summary = "groups of routers joined all to all, and every two groups joined by one link",
      .cost =
          "at most two NICs, two local links and a global one; bisection bandwidth (groups / 2)^2 global_bandwidth, "
          "groups even, unless the local links are the bottleneck",
      .source = "J. Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008"};

  std::int64_t groups = 9;
  std::int64_t routers = 4;
  std::int64_t hosts_per_router = 2;
  std::optional<double> local_bandwidth_bytes_per_s;   ///< none: cluster.bandwidth
  std::optional<double> global_bandwidth_bytes_per_s;  ///< none: cluster.bandwidth
  std::optional<double> local_latency_s;               ///< one way; none: half of cluster.latency
  std::optional<double> global_latency_s;              ///< one way; none: half of cluster.latency

  void describe(base::Describer& d) override;
  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  bool has_localities() const override { return true; }
  /// Hosts of one router.
  int locality(int host, int workers) const override;
  double longest_latency_s(const HostSpec& machine, std::int64_t) const override {
    const double otherwise_s = machine.latency_s / 2.0;
    return machine.latency_s + 2.0 * local_latency_s.value_or(otherwise_s) + global_latency_s.value_or(otherwise_s);
  }
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;

 private:
  /// The node of the router of a group at which its cable to the other group ends.
  int gateway(const Blueprint& blueprint, int group, int other) const;
};

}  // namespace simgrad::cluster

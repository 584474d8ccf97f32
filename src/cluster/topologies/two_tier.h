/// Two tiers: racks of hosts behind switches, whose uplinks to a core switch are slower than their hosts together.
///
/// Source: the leaf-and-spine data centre; A. Greenberg et al., "VL2: A Scalable and Flexible Data Center Network",
/// SIGCOMM 2009, on oversubscription and its cost.
#pragma once

#include <optional>

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// Links: nic-i from host i to its rack's switch, half of cluster.latency each; rack-r from there to the core.
struct TwoTier : Wired {
  static constexpr base::About about{
      .kind = "two_tier",
      .summary = "racks of hosts; a rack's uplink has its hosts' bandwidth divided by the oversubscription",
      .cost = "in a rack as in a star; bisection bandwidth (racks / 2) hosts_per_rack bandwidth / oversubscription",
      .source = "A. Greenberg et al., VL2: A Scalable and Flexible Data Center Network, SIGCOMM 2009"};

  std::int64_t hosts_per_rack = 16;
  double oversubscription = 4.0;
  std::optional<double> rack_latency_s;  ///< latency of an uplink, one way; none: half of cluster.latency

  void describe(base::Describer& d) override;
  bool has_localities() const override { return true; }
  int locality(int host, int workers) const override;
  double longest_latency_s(const HostSpec& machine, std::int64_t) const override {
    return machine.latency_s + 2.0 * rack_latency_s.value_or(machine.latency_s / 2.0);
  }
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;
};

}  // namespace simgrad::cluster

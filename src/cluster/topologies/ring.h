/// Ring: every host is joined to its two neighbours.
#pragma once

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// Links: ring-i from host i to the next, each with cluster.bandwidth each way and cluster.latency. A message goes the
/// shorter way round, and upwards where both are equally long.
struct RingOfHosts : Wired {
  static constexpr base::About about{
      .kind = "ring",
      .summary = "every host is joined to two neighbours; messages go the shorter way round",
      .cost = "hops x latency + bytes / bandwidth; bisection bandwidth 2 bandwidth",
      .source = ""};

  double longest_latency_s(const HostSpec& machine, std::int64_t hosts) const override {
    return static_cast<double>(hosts) * machine.latency_s;  // servers stand between the workers, too
  }
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;
};

}  // namespace simgrad::cluster

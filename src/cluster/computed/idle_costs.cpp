#include "cluster/computed/idle_costs.h"

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/network_model.h"
#include "cluster/fabric/routes.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

AlphaBetaGamma idle_costs(const World& world, const std::vector<int>& members) {
  const Cluster& cluster = world.cluster();
  const Options& options = cluster.options();
  AlphaBetaGamma costs;
  costs.bandwidth_bytes_per_s = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < members.size(); ++m) {
    const int rank = members[m], next = members[(m + 1) % members.size()];
    const double flops_per_s = cluster.speed(world.host(rank)) * world.ranks().relative_speed(rank);
    costs.seconds_per_flop.push_back(options.charge_reductions ? world.ranks().reduction(rank, 1.0) / flops_per_s
                                                               : 0.0);
    if (world.same_host(rank, next)) continue;
    const int from = world.host(rank), to = world.host(next);
    const double part = payload_part(cluster, from, to);
    double latency_s = 0.0;
    for (const auto* link : route_between(cluster.host(from), cluster.host(to), &latency_s))
      costs.bandwidth_bytes_per_s = std::min(costs.bandwidth_bytes_per_s, part * cluster.bandwidth(*link));
    costs.latency_s = std::max(costs.latency_s, latency_s);
    costs.flow_limit_bytes_per_s = std::min(costs.flow_limit_bytes_per_s, most_of_flow(cluster, from, to));
  }
  return costs;
}

}  // namespace simgrad::cluster

#include "cluster/computed/network_routes.h"

#include <algorithm>
#include <simgrid/s4u.hpp>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/network_model.h"
#include "cluster/fabric/routes.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

MemberRoute route_of_hosts(const Cluster& cluster, int source, int target, LinkNumbers& numbers) {
  MemberRoute route;
  route.flow_limit_bytes_per_s = most_of_flow(cluster, source, target);
  route.payload_part = payload_part(cluster, source, target);
  for (const sg4::Link* link : route_between(cluster.host(source), cluster.host(target), &route.latency_s)) {
    route.bandwidth_bytes_per_s = std::min(route.bandwidth_bytes_per_s, route.payload_part * cluster.bandwidth(*link));
    if (link->get_sharing_policy() != sg4::Link::SharingPolicy::FATPIPE) route.links.push_back(numbers.of(*link));
  }
  return route;
}

MemberRoute route_of_ranks(const World& world, int source, int target, LinkNumbers& numbers) {
  if (world.same_host(source, target)) return {};
  return route_of_hosts(world.cluster(), world.host(source), world.host(target), numbers);
}

const MemberRoute& NetworkRoutes::between(int source, int target) const {
  const auto key = static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const auto rank = [&](int member) { return (*members_)[static_cast<std::size_t>(member)]; };
  return known_.emplace(key, route_of_ranks(world_, rank(source), rank(target), numbers_)).first->second;
}

}  // namespace simgrad::cluster

#include "strategies/automatic/concurrent_messages.h"

#include <algorithm>

#include "cluster/computed/network_routes.h"
#include "cluster/fabric/cluster.h"

namespace simgrad::strategies {

const cluster::MemberRoute& ConcurrentMessages::route(int from, int to) {
  const auto key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  const auto [at, fresh] = known_.try_emplace(key);
  if (fresh) at->second = cluster::route_of_hosts(cluster_, from, to, numbers_);
  return at->second;
}

MessageCost ConcurrentMessages::slowest(std::span<const std::pair<int, int>> messages) {
  for (const auto& [from, to] : messages)
    for (const int link : route(from, to).links) {
      on_link_.resize(static_cast<std::size_t>(numbers_.count()), 0);
      ++on_link_[static_cast<std::size_t>(link)];
    }
  MessageCost slowest;
  for (const auto& [from, to] : messages) {
    const cluster::MemberRoute& member_route = route(from, to);
    double bytes_per_s = member_route.alone_bytes_per_s();
    for (const int link : member_route.links)
      bytes_per_s = std::min(
          bytes_per_s, member_route.payload_part * numbers_.bandwidth(link) / on_link_[static_cast<std::size_t>(link)]);
    slowest.latency_s = std::max(slowest.latency_s, member_route.latency_s);
    slowest.s_per_byte = std::max(slowest.s_per_byte, 1.0 / bytes_per_s);
  }
  std::ranges::fill(on_link_, 0);
  return slowest;
}

}  // namespace simgrad::strategies

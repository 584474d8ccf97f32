#include "strategies/automatic/group_messages.h"

#include <algorithm>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/ring_orders.h"

namespace simgrad::strategies {

using training::Dimension;
using training::Mesh;

Messages shifted(const Mesh& mesh, const std::vector<int>& ranks, std::span<const Dimension> along, int places) {
  Messages all;
  for (const int rank : ranks) all.emplace_back(rank, mesh.shifted(rank, along, places));
  return all;
}

MessageCost slower(const MessageCost& a, const MessageCost& b) {
  return {.latency_s = std::max(a.latency_s, b.latency_s), .s_per_byte = std::max(a.s_per_byte, b.s_per_byte)};
}

MessageCost around_rings(const cluster::Cluster& cluster, ConcurrentMessages& messages, const Mesh& mesh,
                         const std::vector<int>& ranks, std::span<const Dimension> along,
                         std::optional<std::int64_t> asked) {
  const auto one_ring = [&] { return messages.slowest(shifted(mesh, ranks, along, 1)); };
  // Where every host has one NIC there is one ring, unless more are asked for.
  const bool one_nic = std::ranges::none_of(ranks, [&](int rank) { return cluster.options().nic(rank) > 0; });
  if (one_nic && asked.value_or(1) == 1) return one_ring();
  Messages inside, outside;
  double part_inside = 0.0, part_outside = 0.0;
  for (const int rank : ranks) {
    const training::MeshPlace place = mesh.place(rank);
    if (std::ranges::any_of(along, [&](Dimension dimension) { return place[dimension] != 0; })) continue;
    const std::vector<int> group = mesh.group(rank, along);
    const cluster::LocalGroups local = cluster::local_groups(cluster, group);
    const int rings = cluster::rings_in_rounds(local, asked);
    if (rings == 1) return one_ring();
    for (const auto& [ends, on_it] : cluster::hops_of_rings(cluster::ring_orders(local, rings))) {
      const auto from = static_cast<std::size_t>(ends.first), to = static_cast<std::size_t>(ends.second);
      const bool leaves = local.group_of[from] != local.group_of[to];
      (leaves ? outside : inside).emplace_back(group[from], group[to]);
      double& part = leaves ? part_outside : part_inside;
      part = std::max(part, static_cast<double>(on_it) / rings);
    }
  }
  const MessageCost near = messages.slowest(inside), far = messages.slowest(outside);
  return {.latency_s = std::max(near.latency_s, far.latency_s),
          .s_per_byte = std::max(part_inside * near.s_per_byte, part_outside * far.s_per_byte)};
}

}  // namespace simgrad::strategies

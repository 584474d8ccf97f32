/// The orders in which several rings at once go through a group, so that its hosts use all of their NICs.
///
/// Source: NVIDIA, NCCL (a channel for each NIC of a host, each a ring of its own). Ring q comes to each host at a
/// member of one NIC, goes through the others, and leaves by its left neighbour: no two rings come or leave by one NIC.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/ranks/local_groups.h"

namespace simgrad::cluster {

/// The NICs by which the members of a host reach other hosts: of the host that has the fewest. 1 on one host.
int nics_of_hosts(const LocalGroups& groups);

/// The fewest members on a host.
int smallest_host(const LocalGroups& groups);

/// The rings of a group that go in rounds: as many as are asked for, or as it has NICs, but no more than the fewest
/// members of a host.
int rings_in_rounds(const LocalGroups& groups, std::optional<std::int64_t> asked);

/// By ring: the members, by place in it. Where there are more rings than NICs, some share them.
std::vector<std::vector<int>> ring_orders(const LocalGroups& groups, int rings);

/// The rings that go from a member to another one, by both.
std::map<std::pair<int, int>, int> hops_of_rings(const std::vector<std::vector<int>>& orders);

}  // namespace simgrad::cluster

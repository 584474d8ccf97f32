/// The orders in which several rings at once go through a group, so that its hosts use all of their NICs.
///
/// Source: NVIDIA, NCCL (a channel for each NIC of a host, each a ring of its own). Ring q comes to each host at a
/// member of one NIC, goes through the others, and leaves by its left neighbour: no two rings come or leave by one NIC.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cluster/ranks/local_groups.h"

namespace simgrad::cluster {

/// The NICs by which the members of a host reach other hosts: of the host that has the fewest. 1 on one host.
int nics_of_hosts(const LocalGroups& groups);

/// The fewest members on a host.
int smallest_host(const LocalGroups& groups);

/// By ring: the members, by place in it. Where there are more rings than NICs, some share them.
std::vector<std::vector<int>> ring_orders(const LocalGroups& groups, int rings);

/// The rings that go from a member to another one, by both.
std::map<std::pair<int, int>, int> hops_of_rings(const std::vector<std::vector<int>>& orders);

}  // namespace simgrad::cluster

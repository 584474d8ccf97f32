/// Several rings at once over the same members, each with a part of the vector, so that hosts use all of their NICs.
///
/// Source: NVIDIA, NCCL (a ring for each NIC of a host). Ring q goes through the members of each host beginning with
/// the q-th, so that it leaves the host by that device's left neighbour, and comes to the next one by its q-th device.
/// Cost: that of one ring in slices (sliced_ring.h) with a part of the bytes; a link's bandwidth is divided evenly
/// among the hops that are on it, of all rings.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/split.h"

namespace simgrad::collectives {

/// hosts: the members of each.  name: in results.
std::shared_ptr<const cluster::CollectiveTiming> timing_of_rings(const std::vector<std::vector<int>>& hosts,
                                                                 const Extent& x, int rings, std::int64_t slices,
                                                                 std::string_view name, values::Combination how);

}  // namespace simgrad::collectives

/// Several rings at once over the same members, each with a part of the vector, so that hosts use all of their NICs.
///
/// Source: NVIDIA, NCCL (a ring for each NIC of a host).
/// Cost: that of one ring in slices (sliced_ring.h) with a part of the bytes; a link's bandwidth is divided evenly
/// among the hops that are on it, of all rings.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/split.h"

namespace simgrad::collectives {

/// orders: of the members, by ring (ring_orders.h).  name: in results.
std::shared_ptr<const cluster::CollectiveTiming> timing_of_rings(std::vector<std::vector<int>> orders, const Extent& x,
                                                                 std::int64_t slices, std::string_view name,
                                                                 values::Combination how);

}  // namespace simgrad::collectives

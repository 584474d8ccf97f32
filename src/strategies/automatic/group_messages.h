/// Messages in the groups of a mesh, all at one time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "strategies/automatic/concurrent_messages.h"
#include "training/parts/mesh.h"

namespace simgrad::cluster {
class Cluster;
}

namespace simgrad::strategies {

using Messages = std::vector<std::pair<int, int>>;  ///< source and target of each

/// From each rank to the one so many places further on in its group along some dimensions.
Messages shifted(const training::Mesh& mesh, const std::vector<int>& ranks, std::span<const training::Dimension> along,
                 int places);

/// The larger latency, and the larger time of a byte.
MessageCost slower(const MessageCost& a, const MessageCost& b);

/// A message with a member's chunk, from each to the next one of its ring, in all groups along some dimensions at one
/// time: in so many rings, or in as many as hosts have NICs.
MessageCost around_rings(const cluster::Cluster& cluster, ConcurrentMessages& messages, const training::Mesh& mesh,
                         const std::vector<int>& ranks, std::span<const training::Dimension> along,
                         std::optional<std::int64_t> rings);

}  // namespace simgrad::strategies

/// A collective in phases: in each, groups of its members go through a collective of their own.
#pragma once

#include <memory>
#include <vector>

#include "cluster/computed/collective_timing.h"

namespace simgrad::cluster {

/// One group's part of a phase.
struct CollectivePart {
  std::vector<int> members;  ///< positions in the whole collective, in the group's order
  std::shared_ptr<const CollectiveTiming> timing;
  std::int64_t bytes = 0;  ///< of the largest input of a member
};

/// Every member is in one group at most.
using CollectivePhase = std::vector<CollectivePart>;

/// A member comes to its part of a phase when it leaves that of the phase before. No member leaves the last phase
/// before all have come to the first.
struct CollectivePhases {
  std::vector<CollectivePhase> phases;
};

}  // namespace simgrad::cluster

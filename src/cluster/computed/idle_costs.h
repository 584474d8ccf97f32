/// The alpha-beta-gamma costs of a group of ranks.
#pragma once

#include <vector>

#include "cluster/computed/alpha_beta_gamma.h"

namespace simgrad::cluster {

class World;

/// Costs on an idle network: the longest latency and the narrowest link on the routes from each member to the next.
AlphaBetaGamma idle_costs(const World& world, const std::vector<int>& members);

}  // namespace simgrad::cluster

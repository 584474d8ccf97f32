/// What cluster.efficiency and cluster.slow_links leave of the links' bandwidths.
#pragma once

#include "cluster/options.h"

namespace simgrad::cluster {

/// Of all links that the engine has, but those inside a host. Call once the platform is built.
/// Errors: base::ScenarioError for a link that does not exist.
void slow_down_links(const Options& options);

}  // namespace simgrad::cluster

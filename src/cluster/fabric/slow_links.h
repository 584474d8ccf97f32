/// The links' bandwidths under cluster.efficiency and cluster.slow_links.
#pragma once

#include "cluster/options.h"

namespace simgrad::cluster {

/// Reduces the bandwidth of all links but those inside a host. Call once the platform is built.
/// Errors: base::ScenarioError for a link that does not exist.
void slow_down_links(const Options& options);

}  // namespace simgrad::cluster

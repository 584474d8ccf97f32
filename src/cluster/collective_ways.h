/// The kinds of cluster.collectives, for listings.
#pragma once

#include <memory>
#include <vector>

#include "base/describe.h"

namespace simgrad::cluster {

/// auto, messages
std::vector<base::About> collective_ways();
/// The options of either.
std::unique_ptr<base::Described> collective_way_options();

}  // namespace simgrad::cluster

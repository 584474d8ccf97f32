/// The reason why a cluster's collectives cannot be computed.
#pragma once

#include <string_view>

#include "cluster/options.h"

namespace simgrad::cluster {

/// The option that disturbs messages, or looks at each of them, so that no collective is computed; empty if none does.
/// Under some failures most are computed all the same: see Options::computes_collectives.
std::string_view against_computing(const Options& options);

}  // namespace simgrad::cluster

/// The reason why a cluster's collectives cannot be computed.
#pragma once

#include <string_view>

#include "cluster/options.h"

namespace simgrad::cluster {

/// The first option that disturbs messages, or looks at each of them; empty if none does.
std::string_view against_computing(const Options& options);

/// The first such option, leaving out crashes that stop all ranks: most collectives are computed in spite of them.
std::string_view against_computing_with_crashes(const Options& options);

}  // namespace simgrad::cluster

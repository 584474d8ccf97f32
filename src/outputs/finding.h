/// The cause that binds a run, in a sentence.
#pragma once

#include <string>

#include "outputs/counterfactual.h"

namespace simgrad::outputs {

/// Returns a sentence about the run of that name: "With twice the bandwidth ring would be 1.9x as fast (half the
/// latency: 1.05x): the bandwidth of the links is the main bottleneck." Other changes are named if they bring enough,
/// three at most. A run on devices has the effect of its assumed numbers behind it. Empty if nothing was tried.
std::string finding(const Counterfactual& counterfactual, const std::string& name);

/// Returns why no change was tried on jobs that share a cluster.
std::string jobs_untried();

}  // namespace simgrad::outputs

/// A run of a scenario with [serving].
#pragma once

#include <vector>

#include "cluster/recording/timeline_recording.h"
#include "experiment/run/simulate.h"

namespace simgrad::experiment {

/// As simulate.  data: text, whose rows begin the prompts; null: times alone.
record::Record simulate_serving(const RunPlan& run, const Data& data,
                                const std::vector<cluster::TimelineLimits>& limits);

}  // namespace simgrad::experiment

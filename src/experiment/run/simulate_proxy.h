/// A run with the numbers of a small model and the times of a large one.
#pragma once

#include "experiment/run/simulate.h"

namespace simgrad::experiment {

/// Simulates the small model in a child of its own, then in this process as many steps of the large one without
/// numbers. The record is the second one's, with the losses, the metric and the end of the first: the state after a
/// step is seen at the time of that step; a model that is kept is the first one's. Arguments and errors as for
/// simulate().
record::Record simulate_proxy(const RunPlan& run, const Data& data, int threads, training::Pulse* pulse,
                              const std::vector<cluster::TimelineLimits>& limits, const Numbers& numbers = {});

}  // namespace simgrad::experiment

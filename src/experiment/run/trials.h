/// Simulations beside an experiment's own runs, of which only the time and the samples are kept.
#pragma once

#include <optional>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/trial_store.h"

namespace simgrad::experiment {

/// Simulates in children, some at a time, what the store does not have, and adds it. Returns an outcome a run: nothing
/// where a trial failed, or where its data cannot be read any more. Returns no outcomes at all after an interrupt.
std::vector<std::optional<Observed>> trial_outcomes(const std::vector<const RunPlan*>& runs, TrialStore& store,
                                                    DataCache& data_cache, int jobs, int threads);

}  // namespace simgrad::experiment

/// The cause that binds a run, found by experiment: one cause at a time is changed, and the run simulated again.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/trial_store.h"
#include "outputs/results.h"

namespace simgrad::experiment {

/// Larger experiments have no counterfactuals: they compare the fastest runs, which a sweep of this size shows itself.
inline constexpr std::size_t counterfactual_runs_most = 1000;

/// The remark on a plan that is too large for counterfactuals; else empty.
std::string too_large_for_counterfactuals(const Plan& plan);

/// Tries the improvements of plan/changes.h on the fastest run of each strategy, then on the others, the fastest
/// strategy first, as far as the effort allows: a seventh of the experiment's own by estimate, or a tenth of a second
/// of processor time where that is more. The first may take a second for as few steps as say anything, and 8 s on
/// devices, whose numbers are assumed in part. Runs that are too long are cut after some steps; what they are compared
/// with is cut alike. Jobs that share a cluster are left out: each is simulated by itself anyway. Equal results give
/// equal counterfactuals, whatever `jobs` and `threads` are; none if the user interrupts, and none of a plan that is
/// too large.  store: trials that are known, and those that are made.  tell: gets a remark where no effort suffices;
/// may be null.
std::vector<outputs::Counterfactual> counterfactuals(const Plan& plan, const outputs::Results& results,
                                                     TrialStore& store, DataCache& data_cache, int jobs, int threads,
                                                     const std::function<void(const std::string&)>& tell);

}  // namespace simgrad::experiment

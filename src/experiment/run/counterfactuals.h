/// The cause that binds a run, found by experiment: one cause at a time is changed, and the run simulated again.
#pragma once

#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/data_cache.h"
#include "outputs/results.h"

namespace simgrad::experiment {

/// Tries the improvements of plan/changes.h on the fastest run of each strategy, then on the others, the fastest
/// strategy first, as far as the effort allows: a seventh of the experiment's own by estimate, or a tenth of a second
/// of processor time where that is more. Runs that are too long are cut after some steps; what they are compared with
/// is cut alike. Jobs that share a cluster are left out: each is simulated by itself anyway. Equal results give equal
/// counterfactuals, whatever `jobs` and `threads` are; none if the user interrupts.
std::vector<outputs::Counterfactual> counterfactuals(const Plan& plan, const outputs::Results& results,
                                                     DataCache& data_cache, int jobs, int threads);

}  // namespace simgrad::experiment

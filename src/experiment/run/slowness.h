/// Sentences on runs that take long in real time.
#pragma once

#include <string>

#include "experiment/plan/plan.h"
#include "training/session/pulse.h"

namespace simgrad::experiment {

/// The advice to evaluate less often, if evaluations took more than half as long again as the gradients, and long
/// enough for a user to notice. Else empty.
std::string evaluation_advice(const RunPlan& run, const training::Pulse& pulse);

/// The part of the work on which a run has spent most of its real time, or empty: the run is fast enough, or nearly at
/// its end.  threads: for its numbers.
std::string slow_run(const RunPlan& run, const training::Pulse& pulse, double elapsed_s, int threads);

}  // namespace simgrad::experiment

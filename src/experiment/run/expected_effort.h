/// The real time that a simulation will take, estimated from its plan alone: for the order of runs and the balance of
/// shards, before anything has run.
#pragma once

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Seconds that a simulation is expected to take. Runs of one experiment compare well; a run that only a target loss
/// ends, or whose data are in a file, is guessed. Computed without functions whose last digits differ between machines:
/// all shards of an experiment must agree.
double expected_effort_s(const RunPlan& run);

}  // namespace simgrad::experiment

/// The real time that a simulation takes, estimated from its record alone, so that equal results give equal estimates
/// on every machine.
#pragma once

#include "experiment/plan/plan.h"
#include "record/record.h"

namespace simgrad::experiment {

/// Seconds that starting one more simulation takes.
inline constexpr double start_effort_s = 4e-3;

/// Seconds that simulating as many steps as the record has takes under the plan: messages and activities of ranks, and
/// the numbers, if the plan has any.
double effort_s(const RunPlan& run, const record::Record& record);

}  // namespace simgrad::experiment

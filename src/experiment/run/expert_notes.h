/// Sentences on the tokens of experts.
#pragma once

#include <string>

#include "experiment/plan/plan.h"
#include "record/record.h"

namespace simgrad::experiment {

/// On the choices at the last evaluation; or, in a run of times alone, on those that its times assume where a run with
/// numbers would follow the router. Empty without experts.
std::string note_on_experts(const RunPlan& run, const record::Record& record);

}  // namespace simgrad::experiment

/// Runs whose numbers are those of a small model, and whose times are those of a large one (model.timed_as).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// The training of the large model itself, for times alone.  rows: training rows.  steps: all, or none: as the scenario
/// says, without its target.
RunPlan timed_plan(const RunPlan& run, std::int64_t rows, std::optional<std::int64_t> steps);
/// The settings of such a training.
Settings timed_settings(const Settings& settings, std::int64_t rows, std::optional<std::int64_t> steps);

/// Tells which numbers of the run are whose: for tables, reports and results.
std::string note_on_proxy(const Settings& settings, std::int64_t parameters_computed);

/// The reason why the strategy's numbers cannot be computed without its times, or empty.
std::string proxy_refusal(const Settings& settings, const strategies::Strategy& strategy, std::string_view kind);

}  // namespace simgrad::experiment

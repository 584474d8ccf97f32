/// Expectations that hold and could not have failed: they say nothing.
///
/// A scenario may ask for failures, stragglers or stale gradients, and by chance, or by a mistake, none happens. What
/// it then expects has not been tested under them.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "experiment/plan/expectations.h"
#include "experiment/plan/plan.h"
#include "experiment/run/metric_of_runs.h"

namespace simgrad::experiment {

/// The plan's runs by their ids.
using PlannedRuns = std::unordered_map<std::string, const RunPlan*>;

/// Returns the reason why an expectation that holds could not have failed; nothing if it could, or if that is not
/// known: whether links failed, and whether jobs beside each other had stragglers.
/// concerned: its runs and those that they are compared with.  planned: the plan's runs, which say whether stragglers
/// were asked for; runs that are not among them count as asking for none.
std::optional<std::string> vacuity(const Expectation& expectation, const Runs& concerned, const PlannedRuns& planned);

}  // namespace simgrad::experiment

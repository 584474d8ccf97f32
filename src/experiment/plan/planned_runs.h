/// The runs of a plan: each grid point with the strategies and seeds that the command line chooses.
#pragma once

#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/plan/points.h"

namespace simgrad::experiment {

/// Adds the runs of all points, point by point, and the baselines that they need, each once.
/// settings: of each point.  Errors: ScenarioError for a strategy that the scenario does not have, for more runs than
/// are planned, and for two points that are equal.
void add_runs(Plan& plan, const std::vector<Point>& points, const AllSettings& settings, const Selection& selection);

}  // namespace simgrad::experiment

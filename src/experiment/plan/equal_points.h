/// Grid points that are there twice: values that are written alike, and values that are one value in two spellings.
#pragma once

#include <cstddef>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/plan/points.h"
#include "experiment/plan/size.h"

namespace simgrad::experiment {

/// Adds a fault for each value, or each values of a zip, that is there twice. 1 and 1.0 are one value.
void refuse_repeated_values(const Dimension& dimension, scenario::Faults& faults);

/// Refuses points whose settings are equal though they are written otherwise, as with 1Gbps and 1000Mbps: all their
/// runs would have the ids of others. first_runs: the place of each point's first run.  Errors: ScenarioError at the
/// values that come second. Cost: the ids of all runs are compared, and the settings of points with equal ids only.
void refuse_equal_points(const std::vector<Point>& points, const AllSettings& settings,
                         const std::vector<RunPlan>& runs, const std::vector<std::size_t>& first_runs);

}  // namespace simgrad::experiment

/// The echo of a scenario with a grid.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/plan/points.h"
#include "scenario/document.h"

namespace simgrad::experiment {

/// The echo of one point, the sections that jobs have of their own included.
nlohmann::ordered_json echo_with_jobs(const Settings& settings, const std::string& directory);

/// Leaves out of the first point's echo what the scenario does not say and other points have otherwise: options of a
/// kind that an axis exchanges, and defaults that follow from what axes set, of strategies and jobs, too. Written down
/// they would be those of all points. Looks at each point once: what follows from two axes shows only where both have
/// other values.
/// points, settings: of the whole grid, in the same order.
void leave_out_what_axes_change(nlohmann::ordered_json& tree, const std::vector<scenario::Axis>& axes,
                                const std::vector<Point>& points, const AllSettings& settings,
                                const std::string& directory);

}  // namespace simgrad::experiment

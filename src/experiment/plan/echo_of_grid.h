/// The echo of a scenario with a grid.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/plan/points.h"
#include "scenario/document.h"

namespace simgrad::experiment {

/// Leaves out of the first point's echo what the scenario does not say and other points have otherwise: options of a
/// kind that an axis exchanges, and defaults that follow from what an axis sets. Written down they would be those of
/// all points.
/// points, settings: of the whole grid, in the same order.
void leave_out_what_axes_change(nlohmann::ordered_json& tree, const std::vector<scenario::Axis>& axes,
                                const std::vector<Point>& points, const AllSettings& settings,
                                const std::string& directory);

}  // namespace simgrad::experiment

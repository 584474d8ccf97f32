/// The layouts of a model on a cluster, as `explain layouts SCENARIO` prints them.
#pragma once

#include <string_view>

#include "experiment/plan/plan.h"

namespace simgrad::cli {

inline constexpr std::string_view layouts_name = "layouts";

/// Prints the layouts with the shortest predicted steps. Options of [parallel] that are written are kept where
/// `automatic` is set; else all ways to cut the model are looked at, and the scenario's own layout is named.
/// Errors: ScenarioError where no layouts can be predicted.
void print_layouts(const experiment::RunPlan& run);

}  // namespace simgrad::cli

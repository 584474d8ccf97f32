/// The layers of a model, as `explain layers SCENARIO` prints them, and its totals.
#pragma once

#include <string>
#include <string_view>

#include "experiment/plan/plan.h"
#include "models/model.h"

namespace simgrad::cli {

inline constexpr std::string_view layers_name = "layers";

/// One line of totals: "25.6 M parameters; 8.18 GFLOP forward ...". Empty for a model without layers, and for one whose
/// layers depend on data.
std::string totals_text(const base::Described& component);

/// Prints the layers of the run's model; units that are alike are printed once, with their number.
void print_layers(const experiment::RunPlan& run);

}  // namespace simgrad::cli

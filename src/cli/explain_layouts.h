/// The layouts of a model on a cluster, as `explain layouts SCENARIO` prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simgrad::cli {

inline constexpr std::string_view layouts_name = "layouts";

/// Prints the layouts with the shortest predicted steps. Options of [parallel] that are written are kept where
/// `automatic` is set; else all ways to cut the model are looked at, and the scenario's own layout is named. A scenario
/// whose own layout does not fit into the devices' memory is answered, too.  sets: as --set takes them.
/// Errors: ScenarioError for a scenario with another fault, and where no layouts can be predicted.
void print_layouts(const std::string& scenario, const std::vector<std::string>& sets);

}  // namespace simgrad::cli

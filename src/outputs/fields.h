/// The numbers of a run by their names in results.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs {

/// All names, in the order of results.json.
const std::vector<std::string>& numeric_fields();

/// The number of that name; nothing where the run has none (null).
std::optional<double> field(const Run& run, const std::string& name);

}  // namespace simgrad::outputs

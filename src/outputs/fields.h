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

/// The run's number with that name; nothing where it is null.
std::optional<double> field(const Run& run, const std::string& name);

}  // namespace simgrad::outputs

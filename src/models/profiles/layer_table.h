/// Layers read from a CSV file.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"

namespace simgrad::models {

/// The columns, in any order, in the file's first line: name, parameters, then forward_flops and backward_flops or
/// forward_s and backward_s (or all four), and if wanted activation_bytes and unit. A line is a layer, in forward
/// order; numbers are those of a sample. Without `unit` each layer is a unit of its own. Errors: EnvironmentError for a
/// file that cannot be read. ScenarioError `file:line:column: what was found, what was expected` for columns that are
/// missing, unknown or there twice, for cells that are missing or no numbers of at least 0, and for units that do not
/// follow each other.
std::vector<Layer> read_layers(const std::string& path);

}  // namespace simgrad::models

/// Layers read from a CSV file.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"

namespace simgrad::models {

struct LayerTable {
  std::vector<Layer> layers;
  std::vector<double> entrance_bytes;  ///< by layer; empty: the file has no such column
};

/// The columns, in any order, in the file's first line: name, parameters, then forward_flops and backward_flops or
/// forward_s and backward_s (or all four), and if wanted weights_s (the seconds of backward_s that make the gradients
/// of the parameters; half of them without that column), activation_bytes, entrance_bytes (that come into the layer
/// from the one before; without that column what it keeps), unit, and times (the line stands for so many layers). A
/// line is a layer, in forward order; numbers are those of a sample. Without `unit` each layer is a unit of its own.
/// Errors: EnvironmentError for a file that cannot be read. ScenarioError `file:line:column: what was found, what was
/// expected` for columns that are missing, unknown or there twice, for cells that are missing or no numbers of at least
/// 0 and at most as amounts.h has it, for weights_s that backward_s does not hold, and for units that do not follow
/// each other.
LayerTable read_layers(const std::string& path);

}  // namespace simgrad::models

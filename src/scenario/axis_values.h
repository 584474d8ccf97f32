/// The values of an axis, from the file or from an option.
#pragma once

#include <vector>

#include "scenario/node.h"

namespace simgrad::scenario {

/// Adds the value, or those of a formula.  Errors: std::invalid_argument for an unsound formula.
void add_values(const Node& node, std::vector<Value>& values);

/// True if all lists of a zip are equally long. Adds a fault for each that is not.
bool equally_long(const std::vector<Axis>& zip, Faults& faults);

}  // namespace simgrad::scenario

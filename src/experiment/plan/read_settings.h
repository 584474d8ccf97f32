/// From a document to the settings of a grid point, checked.
#pragma once

#include <string>
#include <vector>

#include "experiment/plan/settings.h"
#include "scenario/document.h"

namespace simgrad::experiment {

/// Reads and checks one grid point. Faults are added, not thrown.  names: of the strategies that will run; none: all.
Settings read_settings(const scenario::Document& document, scenario::Faults& faults,
                       const std::vector<std::string>& names = {});

/// The first half of read_settings: reads, and checks the list of strategies.
Settings read_sections(const scenario::Document& document, scenario::Faults& faults);

/// The second half, for one training: checks its numbers, data, model and batches, and the workers and strategies for
/// them. Fills in defaults that depend on other options.
void check_training(Settings& settings, const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment

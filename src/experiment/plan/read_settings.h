/// From a document to the settings of a grid point, checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/settings.h"
#include "scenario/document.h"

namespace simgrad::experiment {

/// Reads the sections of one grid point after the other. A section that a point shares with the one before is not read
/// again, but copied.
class SectionReader {
 public:
  Settings read(const scenario::Document& document, scenario::Faults& faults);

 private:
  std::optional<scenario::Document> document_;  ///< the last that was read without a fault
  Settings last_;                               ///< its sections as they were read
};

/// Reads and checks one grid point. Faults are added, not thrown.  names: of the strategies that will run; none: all.
/// reader: of the points before; null: there are none.  advises: as Settings has it.
Settings read_settings(const scenario::Document& document, scenario::Faults& faults,
                       const std::vector<std::string>& names = {}, SectionReader* reader = nullptr,
                       bool advises = true);

/// The first half of read_settings: reads, and checks the list of strategies.
Settings read_sections(const scenario::Document& document, scenario::Faults& faults);

/// The second half, for one training: checks its numbers, data, model and batches, and the workers and strategies for
/// them. Fills in defaults that depend on other options.
void check_training(Settings& settings, const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment

/// Rows that are kept for testing, and that no evaluation is on.
#pragma once

#include <string>
#include <vector>

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// A sentence for the notes of a run whose test set is not used.
std::vector<std::string> notes_on_test_rows(const Settings& settings);

}  // namespace simgrad::experiment

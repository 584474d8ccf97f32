/// Whether each strategy can recover in the way that is chosen for it, and from what is to happen.
#pragma once

#include "experiment/settings.h"

namespace simgrad::experiment {

/// Adds a fault where a strategy does not allow its recovery, where that contradicts the crashes, and for crashes of
/// servers that no strategy has.
void check_recoveries(const Settings& settings, scenario::Faults& faults);

}  // namespace simgrad::experiment

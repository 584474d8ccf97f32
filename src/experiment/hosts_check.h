/// What classes of hosts and shares by speed contradict elsewhere in a scenario.
#pragma once

#include "experiment/settings.h"

namespace simgrad::experiment {

/// Adds a fault for hosts of servers that no strategy has, and for shares by speed where nobody knows whose they are.
void check_hosts(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment

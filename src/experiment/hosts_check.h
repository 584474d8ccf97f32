/// What classes of hosts and shares by speed contradict elsewhere in a scenario.
#pragma once

#include "experiment/settings.h"

namespace simgrad::experiment {

/// Adds a fault for a topology of another number of hosts, and for hosts of servers that no strategy has.
void check_hosts(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// Adds a fault for shares by speed where nobody knows whose they are.
void check_shares(const Settings& settings, scenario::Faults& faults);

}  // namespace simgrad::experiment

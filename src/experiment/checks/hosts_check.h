/// The checks of a scenario's topology, host classes and shares by speed against its strategies.
#pragma once

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault for a topology that cannot have the hosts needed, and for hosts of servers that no strategy has.
void check_hosts(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// Adds a fault for shares by speed if a strategy has no fixed shares.
void check_shares(const Settings& settings, scenario::Faults& faults);

}  // namespace simgrad::experiment

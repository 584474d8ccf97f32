/// The checks of a scenario's topology, host classes and shares by speed against its strategies.
#pragma once

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault for a topology that cannot have the hosts needed, and for hosts of servers that no strategy has.
void check_hosts(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);
/// Whether the device of each worker has a peak for the products of the training's precision; check_hosts refuses the
/// others.
bool devices_multiply(const Settings& settings);

/// Adds a fault for a class without memory beside others that have some, where rows or stages are sized to memory; and
/// faults for shares by speed: a single replica, a strategy without fixed shares, a layout whose prediction has equal
/// shares.
void check_shares(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment

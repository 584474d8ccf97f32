/// The check of [prices] against the hosts and links of the cluster.
#pragma once

#include "experiment/checks/names_check.h"
#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault for a price of a class that the cluster does not have, for an entry that prices nothing, and for a
/// class without a price beside others.
void check_prices(const Settings& settings, KnownNames& known, const scenario::Document& document,
                  scenario::Faults& faults);

}  // namespace simgrad::experiment

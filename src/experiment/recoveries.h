/// Whether each strategy can recover in the way that is chosen for it, and from what is to happen.
#pragma once

#include <string>
#include <vector>

#include "experiment/settings.h"

namespace simgrad::experiment {

/// Adds a fault where a strategy does not allow its recovery, or where that contradicts the crashes.  names: of those
/// that will run; none: all.
void check_recoveries(const Settings& settings, const std::vector<std::string>& names, scenario::Faults& faults);

/// Adds a fault for crashes of workers and servers that are not there.
void check_crashes(const Settings& settings, scenario::Faults& faults);

/// Adds a fault where a trace of failures, whose file has been found sound, has a host down for good for which a
/// strategy would wait.
void check_traced_recoveries(const Settings& settings, const std::vector<std::string>& names, scenario::Faults& faults);

}  // namespace simgrad::experiment

/// The check that each strategy can recover in the chosen way, and from the failures to come.
#pragma once

#include <string>
#include <vector>

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault where a strategy does not allow its recovery, or the recovery contradicts the crashes; and for options
/// of checkpoints without effect.  names: of the strategies that will run; none: all.
void check_recoveries(const Settings& settings, const scenario::Document& document,
                      const std::vector<std::string>& names, scenario::Faults& faults);

/// Adds a fault for spare hosts that could never take a place, and for more of them than there are hosts.
void check_spares(const Settings& settings, const scenario::Document& document, const std::vector<std::string>& names,
                  scenario::Faults& faults);

/// Adds a fault for crashes of workers and servers that do not exist.
void check_crashes(const Settings& settings, scenario::Faults& faults);

/// Adds a fault where a strategy would wait for a host that a trace of failures has down for good. The trace must have
/// been checked.
void check_traced_recoveries(const Settings& settings, const std::vector<std::string>& names, scenario::Faults& faults);

}  // namespace simgrad::experiment

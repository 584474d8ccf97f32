/// The strategies that the command line asks for.
#pragma once

#include <string>
#include <vector>

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// For each of a point's strategies, true if its label is `name`; if no label is, true if its kind is.
std::vector<bool> named(const Settings& settings, const std::string& name);

/// For each of a point's strategies, true if it has one of the names of --strategy; without names, all.
std::vector<bool> selected(const Settings& settings, const std::vector<std::string>& names);

}  // namespace simgrad::experiment

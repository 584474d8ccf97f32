/// Which strategies the command line asks for.
#pragma once

#include <string>
#include <vector>

#include "experiment/settings.h"

namespace simgrad::experiment {

/// Which of a point's strategies bear the name: by label, else by kind.
std::vector<bool> named(const Settings& settings, const std::string& name);

/// Which bear one of the names of --strategy; all where there are none.
std::vector<bool> selected(const Settings& settings, const std::vector<std::string>& names);

}  // namespace simgrad::experiment

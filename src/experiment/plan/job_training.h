/// The training of each [[job]]: the scenario's sections, with the job's own tables laid over them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// The settings of every job of `all`, read and checked as a scenario's, with the job's workers and its only strategy.
/// A fault has the position of its cause, in the job's table or in the scenario's.
std::vector<Settings> read_trainings(const Settings& all, const scenario::Document& document, scenario::Faults& faults);

/// The job's own tables, resolved, for the echo: only the keys that the job gives, so that a grid may vary the
/// scenario's.  Paths as `scenario::echo` writes them.
nlohmann::ordered_json echo_of_own(const Settings& all, std::size_t job, const std::string& directory);

/// The names of those tables.
const std::vector<std::string>& own_tables();

}  // namespace simgrad::experiment

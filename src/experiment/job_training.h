/// What each [[job]] trains: the scenario's sections, with the job's own laid over them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiment/settings.h"

namespace simgrad::experiment {

/// The settings of every job of `all`, read and checked as a scenario's are, with the job's workers and its strategy
/// only.  Faults have the place where they are written, be it the job's table or the scenario's.
std::vector<Settings> read_trainings(const Settings& all, const scenario::Document& document, scenario::Faults& faults);

/// The tables of its own that a job has, resolved, for the echo: those of its keys only, so that a grid may vary the
/// scenario's.  Paths as `scenario::echo` writes them.
nlohmann::ordered_json echo_of_own(const Settings& all, std::size_t job, const std::string& directory);

/// The names of those tables.
const std::vector<std::string>& own_tables();

}  // namespace simgrad::experiment

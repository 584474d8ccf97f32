/// Options that came with a later release than the identities of runs, and their values that change nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace simgrad::experiment {

/// Takes them out of a table of that name where they have that value, so that runs of earlier releases are known.
void leave_out_later_options(nlohmann::ordered_json& table, std::string_view name);

}  // namespace simgrad::experiment

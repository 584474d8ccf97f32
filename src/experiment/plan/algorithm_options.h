/// Options of allreduces that came with a later release, for identities.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace simgrad::experiment {

/// Leaves them out of a table with an allreduce where their values change nothing, so that runs of earlier releases are
/// known. An allreduce without other options is its name, as earlier.
void leave_out_later_options_of_algorithms(nlohmann::ordered_json& table);

}  // namespace simgrad::experiment

/// The answer of `simgrad plan` on the page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace simgrad::outputs::report {

/// Returns a JSON object without any `<`: what the page shows of plan.json. Labels, states and values of the
/// candidates' parameters are places in lists of texts.
/// Errors: base::EnvironmentError for a member that is missing or not of its type.
std::string plan_data(const nlohmann::ordered_json& plan);

}  // namespace simgrad::outputs::report

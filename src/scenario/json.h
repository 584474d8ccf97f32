/// Values between TOML and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "scenario/node.h"

namespace simgrad::scenario {

using Json = nlohmann::ordered_json;

/// Dates become strings: no option takes one.
Json json(const Node& node);

/// The value in one line of TOML. Keys whose value is null are left out, for TOML has none.
std::string inline_toml(const Json& value);

}  // namespace simgrad::scenario

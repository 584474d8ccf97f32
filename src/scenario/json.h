/// Values between TOML and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "scenario/node.h"

namespace simgrad::scenario {

using Json = nlohmann::ordered_json;

/// A node's value as JSON. Dates become strings, because no option takes a date.
Json json(const Node& node);

/// The value in one line of TOML. Keys whose value is null are left out, because TOML has no null.
std::string inline_toml(const Json& value);

}  // namespace simgrad::scenario

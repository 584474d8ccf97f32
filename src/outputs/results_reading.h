/// results.json, read as a whole or an item of a list at a time, and the errors of all JSON files that are read.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "outputs/results.h"

namespace simgrad::outputs {

/// list, index: the item's place, for errors.  Errors: base::EnvironmentError naming the place and the member.
Run run_in_list(const nlohmann::ordered_json& json, std::string_view list, std::size_t index);
Counterfactual counterfactual_in_list(const nlohmann::ordered_json& json, std::string_view list, std::size_t index);

/// Parses the text of a file with `parse`. Errors: base::ScenarioError for contents that are wrong, with the file's
/// name.
template <class Parse>
auto parsed_text(const std::string& path, const std::string& text, Parse parse) {
  nlohmann::ordered_json json;
  try {
    json = parse_json(text, path);
  } catch (const base::EnvironmentError& fault) {
    throw base::ScenarioError(fault.what());
  }
  try {
    return parse(json);
  } catch (const base::EnvironmentError& fault) {
    throw base::ScenarioError(path + ": " + fault.what());
  }
}

/// Parses a file. Errors: as above, and base::EnvironmentError for a file that cannot be read.
template <class Parse>
auto parsed(const std::string& path, Parse parse) {
  return parsed_text(path, read_file(path), parse);
}

}  // namespace simgrad::outputs

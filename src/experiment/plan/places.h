/// The places of a scenario's options, for faults. Every key is checked: a key that is renamed in `describe`, and not
/// here, must not lose its place, or its meaning, without a word.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "scenario/document.h"

namespace simgrad::experiment {

/// The key itself. Errors: InvariantError unless `describe` names it; the indices of lists ("job.0.steps") are skipped.
std::string option_key(std::string_view key);

/// True if the scenario writes the option.
bool writes(const scenario::Document& document, std::string_view key);

/// The place of the first of the options that is written; else of the innermost written table around the last of them.
scenario::Position place(const scenario::Document& document, std::initializer_list<std::string_view> keys);
scenario::Position place(const scenario::Document& document, std::string_view key);

/// Erases an option from an echo of the scenario.
void leave_out(nlohmann::ordered_json& echo, std::string_view key);

}  // namespace simgrad::experiment

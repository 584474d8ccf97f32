/// The options of components for `explain`: those that are the same in several components stand there once.
#pragma once

#include <string>
#include <vector>

#include "cli/catalogue.h"
#include "cli/explain_senses.h"
#include "scenario/document.h"

namespace simgrad::cli {

/// "  workers (integer, at least 1, default 8)", its meaning and its named values, each in lines.
std::string option_text(const scenario::OptionText& option);

/// Where a scenario names the component.
const std::string& where(const Kind& kind, const Item& item);

/// The section of a scenario that the key stands in; empty for a key of another item.
std::string section_of(const Item& item, const std::string& key);

/// The options called so.
std::vector<Sense> options_called(const std::string& wanted);

/// The options that have a value called so: `greedy`, `auto`, `none`.  of_components: also values that are components.
std::vector<Sense> options_with_value(const std::string& wanted, bool of_components);

/// The options of the components, each once. A default that differs is given with the components that have it.
std::string common_options_text(const std::vector<const Item*>& items);

/// Whether several of the components have options, all of the same names.
bool have_equal_options(const std::vector<const Item*>& items);

}  // namespace simgrad::cli

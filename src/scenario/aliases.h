/// Names that other systems and papers use: `explain` knows them, and a scenario may name kinds by them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/describe.h"

namespace simgrad::scenario {

struct Alias {
  std::string_view alias;    ///< in lower case, with "_" between words
  std::string_view name;     ///< as `list` has it
  std::string_view meaning;  ///< the alias, and how the name differs from it
  std::string_view options;  ///< of the kind of that name, as an inline table of TOML has them; others have defaults
};

/// An alias with several meanings stands there several times.
std::span<const Alias> aliases();

/// A name as aliases are written: "DP-SGD" is "dp_sgd".
std::string alias_text(std::string_view name);

/// The alias of that name, however it is written; null where there is none, or several.
const Alias* only_alias(std::string_view name);

/// Gives a component of the alias's kind the options that the alias stands for.
void preset(base::Described& component, const Alias& alias);

}  // namespace simgrad::scenario

/// Names that other systems and papers use: `explain` knows them, and a scenario may name kinds by them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/node.h"

namespace simgrad::scenario {

struct Alias {
  std::string_view alias;         ///< in lower case, with "_" between words
  std::string_view name;          ///< as `list` has it
  std::string_view meaning;       ///< the alias, and how the name differs from it
  std::string_view options = "";  ///< of the kind of that name, as an inline table of TOML has them
  bool explained_only = false;    ///< too broad a word to be a kind in a scenario
};

/// An alias with several meanings stands there several times.
std::span<const Alias> aliases();

/// A name as aliases are written: "DP-SGD" is "dp_sgd".
std::string alias_text(std::string_view name);

/// The alias of that name, however it is written, as a kind in a scenario; null where there is none, or several.
const Alias* only_alias(std::string_view name);

/// The options that the alias stands for.
Table options_of(const Alias& alias, const Position& position);

/// "; did you mean "horovod"?", of the kinds and of their aliases; else "; known: ...".
std::string suggestion_with_aliases(const std::string& kind, const std::vector<std::string>& known);

}  // namespace simgrad::scenario

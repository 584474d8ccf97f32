/// Names that other systems and papers use, for `explain`.
#pragma once

#include <span>
#include <string_view>

namespace simgrad::cli {

struct Alias {
  std::string_view alias;    ///< in lower case, with "_" between words
  std::string_view name;     ///< as `list` has it
  std::string_view meaning;  ///< the alias, and how the name differs from it
};

/// An alias with several meanings stands there several times.
std::span<const Alias> aliases();

}  // namespace simgrad::cli

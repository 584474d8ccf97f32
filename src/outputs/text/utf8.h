/// The characters of UTF-8, and the columns that each takes on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace simgrad::outputs {

struct Character {
  char32_t code = 0xFFFD;
  std::size_t bytes = 1;
  bool sound = false;  ///< false: one byte that does not begin a character
};

/// Returns the first character of `text`, which must not be empty.
Character first_character(std::string_view text);

/// Returns 0 for a mark that combines with the character before it, 2 for East Asian wide characters and emoji, else 1.
/// Source: The Unicode Consortium, Unicode Standard Annex #11, East Asian Width, 2021.
std::size_t columns_of(char32_t code);

}  // namespace simgrad::outputs

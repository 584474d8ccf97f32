/// The characters of UTF-8, and how many columns of a terminal each takes.
#pragma once

#include <cstddef>
#include <string_view>

namespace simgrad::outputs {

struct Character {
  char32_t code = 0xFFFD;
  std::size_t bytes = 1;
  bool sound = false;  ///< false: one byte that begins no character
};

/// The first character of a text that is not empty.
Character first_character(std::string_view text);

/// 0 of what joins the character before it, 2 of East Asian wide characters and emoji, else 1.
/// Source: The Unicode Consortium, Unicode Standard Annex #11, East Asian Width, 2021.
std::size_t columns_of(char32_t code);

}  // namespace simgrad::outputs

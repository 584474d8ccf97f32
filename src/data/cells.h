/// The contents of one cell of a text file.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::data {

struct Cell {
  enum class Kind { number, missing, infinite, text };
  Kind kind = Kind::missing;
  double value = 0.0;  ///< finite for a number; unspecified otherwise
};

/// Reads a cell. Surrounding blanks are ignored and a leading plus is allowed. Missing: empty, `?`, `NA` and `nan` in
/// any case. Infinite: `inf`, `infinity`, and numbers beyond the range of a double.
/// decimal: the byte before a number's fraction. Under ',' a cell with a point is a text: "1.234" may be a thousand.
Cell parse_cell(std::string_view text, char decimal = '.');

/// The text without the spaces and tabs around it.
std::string_view trimmed(std::string_view text);

/// The text in quotes, for an error message: cut if long, with control characters shown as `?`.
std::string shown(std::string_view text);

}  // namespace simgrad::data

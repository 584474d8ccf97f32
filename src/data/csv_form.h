/// The form in which a CSV file is written, guessed from its beginning: for the hint of an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/csv_table.h"

namespace simgrad::data {

/// The first lines of a text, before its cells are unquoted in place.
class FormGuess {
 public:
  explicit FormGuess(std::string_view text);

  /// The separator that cuts all of the first lines into equally many cells, two at least, if the form's own does not;
  /// and a decimal comma where numbers between such separators have one.
  std::optional<CsvForm> other_than(const CsvForm& form) const;

 private:
  std::string beginning_;
};

/// Whether the cell is a text, and would be a number if commas and points changed their parts.
bool has_other_decimal(std::string_view cell, char decimal);

/// A byte in quotes, as TOML writes it: "\t".
std::string shown_byte(char byte);

}  // namespace simgrad::data

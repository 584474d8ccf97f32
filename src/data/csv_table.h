/// A CSV text cut into cells.
/// Source: RFC 4180, Y. Shafranovich, 2005. In addition any one-byte separator and LF or CR line ends are read, and
/// blank lines are skipped. Cost: one pass; 16 bytes a cell.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/cells.h"

namespace simgrad::data {

/// How a file writes its cells.
struct CsvForm {
  char separator = ',';
  char decimal = '.';  ///< '.' or ','
  bool header = true;  ///< the first line holds the columns' names
};

struct CsvTable {
  std::int64_t columns = 0;
  std::vector<std::string> names;       ///< columns; "column_0", ... without a header
  std::int64_t names_line = 1;          ///< the line that errors about a whole column name
  std::vector<std::string_view> cells;  ///< rows x columns, row-major, views into the text
  std::vector<std::int64_t> lines;      ///< rows; the line at which a row starts, counted from 1

  char decimal = '.';  ///< as in CsvForm

  std::int64_t rows() const { return static_cast<std::int64_t>(lines.size()); }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return cells[static_cast<std::size_t>(row * columns + column)];
  }
  Cell value(std::int64_t row, std::int64_t column) const { return parse_cell(cell(row, column), decimal); }
};

/// Cuts the text into cells. Quoted cells are unquoted in place, so `text` changes and must outlive the table.
/// first_line: the number of the text's first line in the file.
/// Errors: ScenarioError `path:line:column:` for rows of different lengths; `path:line:` for an unclosed quote, text
/// behind a closing quote, no rows at all, or more cells than `cells_most`.
CsvTable csv_table(std::span<char> text, const CsvForm& form, const std::string& path, std::int64_t first_line = 1);

}  // namespace simgrad::data

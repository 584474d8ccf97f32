/// The columns of a CSV table: their numbers, texts and missing cells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_table.h"
#include "data/distinct.h"
#include "data/limits.h"

namespace simgrad::data {

/// The number of a column that is given by its name or else by its zero-based index.  role: "target", "user", ..., for
/// errors; where: `path:line`.  Errors: ScenarioError for a name that no column or several columns have, or an index
/// out of range.
std::int64_t find_column(const CsvTable& table, const std::string& wanted, std::string_view role,
                         const std::string& where);

/// The place of a column by its index, for a text that is no column's name.
std::int64_t column_by_index(const CsvTable& table, const std::string& wanted, std::string_view role,
                             const std::string& where);

/// A column's cells of one kind: their number, and the first row with one.
struct Seen {
  std::int64_t count = 0;
  std::int64_t first_row = -1;

  void note(std::int64_t row) {
    if (count++ == 0) first_row = row;
  }
};

struct Column {
  Seen numbers, texts, missing, infinite;
  Distinct<std::string_view> values{values_most};  ///< in a text column
  double substitute = 0.0;  ///< for missing cells: the mean, or in a text column the value's index

  bool text() const { return texts.count > numbers.count + infinite.count; }
  /// The number of features that the column becomes.
  std::int64_t width() const { return text() ? static_cast<std::int64_t>(values.size()) : 1; }
};

/// The table's cells as numbers, row-major, and a summary of each column.
struct Columns {
  std::vector<Column> all;
  std::vector<double> numbers;  ///< rows x columns; NaN where the cell is not a number
};
Columns read_columns(const CsvTable& table);

/// Finds a text column's values and every column's substitute over these rows.
/// False if a text column has more than `values_most` values.
bool settle_column(Columns& columns, std::int64_t j, const CsvTable& table, const std::vector<std::int64_t>& rows);

/// A remark on a settled column that is constant, looks like an identifier, or becomes many features over these rows
/// ("has one value in all rows", "has 28 different texts, which become 28 of the 30 features; it looks like a date"),
/// or empty.  features: of the whole data set.
std::string remark(const Columns& columns, std::int64_t j, const CsvTable& table, const std::vector<std::int64_t>& rows,
                   std::int64_t features);
/// A remark on the line of the columns' names if it looks like a row: each column of numbers is called a number. Empty
/// otherwise.
std::string remark_on_names(const Columns& columns, const CsvTable& table);

}  // namespace simgrad::data

#include "data/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/errors.h"
#include "base/text.h"
#include "data/cells.h"

namespace simgrad::data {

namespace {

/// Finds a text column's values and the most frequent one, among equally frequent ones the first in order. False if the
/// column has too many values.
bool settle_text(Column& column, std::int64_t j, const CsvTable& table, const std::vector<std::int64_t>& rows) {
  for (const std::int64_t row : rows) {
    const std::string_view cell = trimmed(table.cell(row, j));
    if (parse_cell(cell).kind != Cell::Kind::missing && !column.values.add(cell)) return false;
  }
  std::vector<std::int64_t> counts(column.values.size());
  for (const std::int64_t row : rows) {
    const std::string_view cell = trimmed(table.cell(row, j));
    if (parse_cell(cell).kind != Cell::Kind::missing) ++counts[column.values.index(cell)];
  }
  column.substitute = static_cast<double>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  return true;
}

/// The numbers of digits of a text's first three groups, if they are separated by one of "-/." twice, and the text ends
/// there or a time of day follows behind a blank or T; else nothing.
std::optional<std::array<std::size_t, 3>> digit_groups(std::string_view text) {
  std::array<std::size_t, 3> groups{};
  std::size_t at = 0;
  char between = 0;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    groups[k] = at - from;
    if (k == groups.size() - 1) break;
    if (at == text.size() || std::string_view("-/.").find(text[at]) == std::string_view::npos) return {};
    if (k > 0 && text[at] != between) return {};
    between = text[at++];
  }
  const bool ends = at == text.size() || text[at] == ' ' || text[at] == 'T';
  return ends ? std::optional(groups) : std::nullopt;
}

/// Whether the text is a date such as 2024-01-31, 31.1.24 or 1/31/2024.
bool is_date(std::string_view text) {
  const auto groups = digit_groups(text);
  if (!groups) return false;
  const auto [first, second, third] = *groups;
  const auto short_one = [](std::size_t digits) { return digits == 1 || digits == 2; };
  return short_one(second) && ((first == 4 && short_one(third)) || (short_one(first) && (third == 2 || third == 4)));
}

constexpr std::size_t rows_of_chance = 20;  ///< fewer rows differ from each other by chance

std::string remark_on_text(const std::vector<std::string_view>& values, std::size_t rows, std::int64_t features) {
  constexpr std::size_t many = 10, few = 5;
  if (values.size() <= 1) return "has one value in all rows";
  const bool identifies = rows >= rows_of_chance && 2 * values.size() > rows;
  const bool most = values.size() >= few && 2 * static_cast<std::int64_t>(values.size()) > features;
  if (values.size() <= many && !most) return {};
  const std::string_view looks = std::ranges::all_of(values, is_date) ? "; it looks like a date"
                                 : identifies                         ? "; it looks like an identifier"
                                                                      : "";
  return fmt::format("has {} different texts, which become {} of the {} features{}", values.size(), values.size(),
                     features, looks);
}

}  // namespace

std::string remark_on_names(const Columns& columns, const CsvTable& table) {
  const std::string* number = nullptr;
  for (std::int64_t j = 0; j < table.columns; ++j) {
    if (columns.all[static_cast<std::size_t>(j)].text()) continue;
    const std::string& name = table.names[static_cast<std::size_t>(j)];
    if (parse_cell(name, table.decimal).kind != Cell::Kind::number) return {};
    if (!number) number = &name;
  }
  if (!number) return {};
  return fmt::format(
      "the names of columns of numbers are numbers, such as {}; if this line is a row, set [data] header = "
      "false",
      *number);
}

std::int64_t find_column(const CsvTable& table, const std::string& wanted, std::string_view role,
                         const std::string& where) {
  const auto count = std::count(table.names.begin(), table.names.end(), wanted);
  if (count == 1) return std::find(table.names.begin(), table.names.end(), wanted) - table.names.begin();
  if (count > 1)
    throw base::ScenarioError(
        fmt::format("{}: {} columns are called {}, expected one; give the zero-based index of the {} column", where,
                    count, shown(wanted), role));
  return column_by_index(table, wanted, role, where);
}

std::int64_t column_by_index(const CsvTable& table, const std::string& wanted, std::string_view role,
                             const std::string& where) {
  std::int64_t index = 0;
  const auto [stop, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  const bool whole = !wanted.empty() && stop == wanted.data() + wanted.size() && error != std::errc::invalid_argument;
  if (whole && error == std::errc() && index >= 0 && index < table.columns) return index;
  if (whole)
    throw base::ScenarioError(fmt::format("{}: {} column {}, expected a name or an index from 0 to {}", where, role,
                                          wanted, table.columns - 1));
  throw base::ScenarioError(
      fmt::format("{}: unknown {} column {}{}", where, role, shown(wanted), base::suggestion(wanted, table.names)));
}

Columns read_columns(const CsvTable& table) {
  Columns columns;
  columns.all.resize(static_cast<std::size_t>(table.columns));
  columns.numbers.reserve(table.cells.size());
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for (std::int64_t j = 0; j < table.columns; ++j) {
      const Cell cell = table.value(row, j);
      Column& column = columns.all[static_cast<std::size_t>(j)];
      switch (cell.kind) {
        case Cell::Kind::number:
          column.numbers.note(row);
          break;
        case Cell::Kind::missing:
          column.missing.note(row);
          break;
        case Cell::Kind::infinite:
          column.infinite.note(row);
          break;
        case Cell::Kind::text:
          column.texts.note(row);
          break;
      }
      columns.numbers.push_back(cell.kind == Cell::Kind::number ? cell.value
                                                                : std::numeric_limits<double>::quiet_NaN());
    }
  return columns;
}

bool settle_column(Columns& columns, std::int64_t j, const CsvTable& table, const std::vector<std::int64_t>& rows) {
  Column& column = columns.all[static_cast<std::size_t>(j)];
  if (column.text()) return settle_text(column, j, table, rows);
  if (column.missing.count == 0) return true;
  long double sum = 0.0;  // its range holds the sum of any doubles, so the mean is finite
  std::int64_t count = 0;
  for (const std::int64_t row : rows) {
    const double number = columns.numbers[static_cast<std::size_t>(row * table.columns + j)];
    if (std::isnan(number)) continue;
    sum += number;
    ++count;
  }
  if (count > 0) column.substitute = static_cast<double>(sum / static_cast<long double>(count));
  return true;
}

std::string remark(const Columns& columns, std::int64_t j, const CsvTable& table, const std::vector<std::int64_t>& rows,
                   std::int64_t features) {
  const Column& held = columns.all[static_cast<std::size_t>(j)];
  if (held.text()) return remark_on_text(held.values.values(), rows.size(), features);
  std::vector<double> numbers;
  bool whole = true, constant = true;
  for (const std::int64_t row : rows) {
    const double value = columns.numbers[static_cast<std::size_t>(row * table.columns + j)];
    if (std::isnan(value)) continue;
    numbers.push_back(value);
    constant = constant && value == numbers.front();
    whole = whole && value == std::trunc(value);
    if (!whole && !constant) return {};  // measured quantities often differ in every row
  }
  if (constant) return "has one value in all rows";
  if (numbers.size() < rows_of_chance || numbers.size() < rows.size()) return {};
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) == numbers.end()
             ? "has a different integer in every row; it looks like an identifier"
             : "";
}

}  // namespace simgrad::data

#include "data/csv_table.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "data/limits.h"

namespace simgrad::data {

namespace {

/// Reads the text once, cell by cell.
class Scanner {
 public:
  Scanner(std::span<char> text, char separator, const std::string& path, std::int64_t first_line)
      : text_(text), separator_(separator), path_(path), line_(first_line) {}

  std::int64_t line() const { return line_; }
  const char* here() const { return text_.data() + at_; }
  bool row_ended() const { return row_ended_; }

  /// Moves to the start of the next line that is not blank; false at the end.
  bool find_row() {
    std::size_t ahead = at_;
    while (ahead < text_.size()) {
      const char c = text_[ahead];
      // A separator that is a blank (a tab) delimits cells, even empty ones.
      if (c == separator_ || !(c == ' ' || c == '\t' || c == '\n' || c == '\r')) return true;
      ++ahead;
      if (c == '\n' || c == '\r') {
        at_ = ahead - 1;
        end_line();
        ahead = at_;
      }
    }
    return false;
  }

  /// The next cell of the row; row_ended() tells whether it was the last.
  std::string_view take_cell() { return at_ < text_.size() && text_[at_] == '"' ? take_quoted() : take_plain(); }

 private:
  std::string_view take_plain() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    const std::string_view cell(text_.data() + start, at_ - start);
    end_cell();
    return cell;
  }

  std::string_view take_quoted() {
    const std::int64_t opened = line_;
    const std::size_t start = ++at_;
    std::size_t length = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
          ++at_;
          end_cell();
          return {text_.data() + start, length};
        }
        ++at_;
      }
      if (c == '\n' || (c == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] != '\n'))) ++line_;
      // Unquotes in place: a doubled quote makes the cell shorter, never longer.
      text_[start + length++] = c;
    }
    throw base::ScenarioError(
        fmt::format("{}:{}: a cell starts with a quote that is never closed, expected a second quote", path_, opened));
  }

  /// Skips the end of a cell: the separator, the end of the line or of the text.
  void end_cell() {
    row_ended_ = at_ == text_.size() || text_[at_] != separator_;
    if (!row_ended_) {
      ++at_;
    } else if (at_ < text_.size()) {
      if (text_[at_] != '\n' && text_[at_] != '\r')
        throw base::ScenarioError(fmt::format("{}:{}: {} behind a closing quote, expected {} or the end of the line",
                                              path_, line_, shown({text_.data() + at_, 1}), shown({&separator_, 1})));
      end_line();
    }
  }

  void end_line() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++line_;
  }

  std::span<char> text_;
  char separator_;
  const std::string& path_;
  std::size_t at_ = 0;
  std::int64_t line_;
  bool row_ended_ = false;
};

/// The column of the text in which a row of another length has its first cell too many, or ends too early.
/// row: where it begins.  before: the cells of earlier rows.
std::int64_t column_of_fault(const CsvTable& table, const char* row, std::size_t before) {
  const std::size_t surplus = before + static_cast<std::size_t>(table.columns);
  if (surplus < table.cells.size()) return table.cells[surplus].data() - row + 1;
  return table.cells.back().data() + table.cells.back().size() - row + 1;
}

void name_columns(CsvTable& table, bool header, const std::string& path) {
  if (!header) {
    for (std::int64_t j = 0; j < table.columns; ++j) table.names.push_back(fmt::format("column_{}", j));
    return;
  }
  bool numbers_only = true;
  for (std::int64_t j = 0; j < table.columns; ++j) {
    const std::string_view name = trimmed(table.cells[static_cast<std::size_t>(j)]);
    numbers_only = numbers_only && parse_cell(name, table.decimal).kind == Cell::Kind::number;
    table.names.push_back(name.empty() ? fmt::format("column_{}", j) : std::string(name));
  }
  if (numbers_only)
    throw base::ScenarioError(fmt::format(
        "{}:{}: numbers, expected the columns' names; if the file has none, set header = false", path, table.lines[0]));
  table.names_line = table.lines[0];
  table.cells.erase(table.cells.begin(), table.cells.begin() + table.columns);
  table.lines.erase(table.lines.begin());
}

}  // namespace

CsvTable csv_table(std::span<char> text, const CsvForm& form, const std::string& path, std::int64_t first_line) {
  CsvTable table;
  table.decimal = form.decimal;
  Scanner scanner(text, form.separator, path, first_line);
  while (scanner.find_row()) {
    table.lines.push_back(scanner.line());
    const char* const row = scanner.here();
    const std::size_t before = table.cells.size();
    do table.cells.push_back(scanner.take_cell());
    while (!scanner.row_ended());

    const auto found = static_cast<std::int64_t>(table.cells.size() - before);
    if (table.columns == 0) table.columns = found;
    if (found != table.columns)
      throw base::ScenarioError(fmt::format("{}:{}:{}: {} cell{}, expected {} as in line {}", path, table.lines.back(),
                                            column_of_fault(table, row, before), found, found == 1 ? "" : "s",
                                            table.columns, table.lines.front()));
    if (static_cast<std::int64_t>(table.cells.size()) > cells_most || found > columns_most)
      throw base::ScenarioError(fmt::format("{}:{}: {}", path, table.lines.back(), too_large(table.rows(), found)));
  }
  if (table.lines.empty()) throw base::ScenarioError(fmt::format("{}:1: no rows, expected at least one", path));
  name_columns(table, form.header, path);
  if (table.lines.empty())
    throw base::ScenarioError(
        fmt::format("{}:{}: no rows behind the header, expected at least one", path, table.names_line));
  return table;
}

}  // namespace simgrad::data

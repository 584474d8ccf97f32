#include "data/csv_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "data/cells.h"

namespace simgrad::data {

namespace {

constexpr std::size_t beginning_bytes = 8192;
constexpr std::size_t beginning_lines = 20;

/// Cuts a text into lines of cells, without those that are blank. Quotes are kept.
std::vector<std::vector<std::string_view>> cells_of_lines(std::string_view text, char separator) {
  std::vector<std::vector<std::string_view>> lines;
  std::vector<std::string_view> line;
  bool quoted = false;
  std::size_t from = 0;
  const auto end_cell = [&](std::size_t at) {
    line.push_back(trimmed(text.substr(from, at - from)));
    from = at + 1;
  };
  const auto end_line = [&](std::size_t at) {
    end_cell(at);
    if (line.size() > 1 || !line.front().empty()) lines.push_back(std::move(line));
    line.clear();
  };
  for (std::size_t at = 0; at < text.size() && lines.size() < beginning_lines; ++at) {
    const char c = text[at];
    if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == separator)
      end_cell(at);
    else if (!quoted && (c == '\n' || c == '\r'))
      end_line(at);
  }
  if (lines.size() < beginning_lines && from < text.size()) end_line(text.size());
  return lines;
}

/// The cells of each line, if all lines have equally many; else 0.
std::size_t cells_a_line(const std::vector<std::vector<std::string_view>>& lines) {
  if (lines.empty()) return 0;
  const std::size_t count = lines.front().size();
  return std::ranges::all_of(lines, [&](const auto& line) { return line.size() == count; }) ? count : 0;
}

std::string_view unquoted(std::string_view cell) {
  const bool quoted = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
  return quoted ? cell.substr(1, cell.size() - 2) : cell;
}

}  // namespace

FormGuess::FormGuess(std::string_view text) : beginning_(text.substr(0, beginning_bytes)) {
  // The last line may have been cut.
  const std::size_t end = beginning_.find_last_of("\r\n");
  if (text.size() > beginning_.size() && end != std::string::npos) beginning_.resize(end);
}

std::optional<CsvForm> FormGuess::other_than(const CsvForm& form) const {
  if (cells_a_line(cells_of_lines(beginning_, form.separator)) >= 2) return {};
  std::optional<CsvForm> found;
  std::size_t most = 1;
  for (const char separator : std::array{';', '\t', '|', ','}) {
    const auto lines = cells_of_lines(beginning_, separator);
    const std::size_t cells = separator == form.separator ? 0 : cells_a_line(lines);
    if (cells <= most) continue;
    most = cells;
    const auto has_comma = [](std::string_view cell) { return has_other_decimal(unquoted(cell), '.'); };
    const bool commas =
        std::ranges::any_of(lines, [&](const auto& line) { return std::ranges::any_of(line, has_comma); });
    found = CsvForm{.separator = separator, .decimal = commas ? ',' : '.', .header = form.header};
  }
  return found;
}

bool has_other_decimal(std::string_view cell, char decimal) {
  const char other = decimal == ',' ? '.' : ',';
  return parse_cell(cell, decimal).kind == Cell::Kind::text && parse_cell(cell, other).kind == Cell::Kind::number;
}

std::string shown_byte(char byte) {
  if (byte == '\t') return "\"\\t\"";
  return shown({&byte, 1});
}

}  // namespace simgrad::data

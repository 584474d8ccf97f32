/// The CSV files: views of the same JSON values, so that a number has one spelling everywhere.
#include <string_view>
#include <utility>

#include "outputs/csv_cell.h"
#include "outputs/json_text.h"
#include "outputs/result_tables.h"
#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

/// RFC 4180: quotes where the text needs them, doubled within.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

/// A text that a spreadsheet would compute as a formula stands behind an apostrophe. Numbers are no texts.
std::string guarded(std::string text) {
  constexpr std::string_view formulas = "=+-@\t\r";
  return !text.empty() && formulas.find(text.front()) != std::string_view::npos ? "'" + std::move(text) : text;
}

void append_cell(std::string& line, const Json& value) {
  if (value.is_null()) return;
  if (value.is_number_float())
    append_json(line, value.get<double>());
  else if (value.is_string())  // as in results.json, for the sake of bytes that are not UTF-8, but without escapes
    line += csv_cell(value.get_ref<const std::string&>());
  else
    line += quoted(compact(value));
}

std::string in_text(const ResultTable& table) {
  std::string text;
  write_csv(table, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

std::string csv_cell(const std::string& text) { return quoted(guarded(sound_text(text))); }

void write_csv(const ResultTable& table, const Sink& sink) {
  std::string line;
  const auto end_line = [&] {
    line += '\n';
    sink(line);
    line.clear();
  };
  for (const ResultColumn& column : table.columns) {
    if (!line.empty()) line += ',';
    append_cell(line, column.name);
  }
  end_line();
  table.each_row([&](const ResultRow& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += ',';
      append_cell(line, row[i]);
    }
    end_line();
  });
}

std::string runs_csv(const Results& results) { return in_text(runs_table(results)); }
std::string summary_csv(const Results& results) { return in_text(summary_table(results)); }
std::string curves_csv(const Results& results) { return in_text(curves_table(results)); }
std::string ranks_csv(const Results& results) { return in_text(ranks_table(results)); }
std::string links_csv(const Results& results) { return in_text(links_table(results)); }
std::string link_utilisation_csv(const Results& results) { return in_text(link_utilisation_table(results)); }

}  // namespace simgrad::outputs

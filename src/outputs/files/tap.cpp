#include "outputs/files/tap.h"

#include <nlohmann/json.hpp>

#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

/// A text in a line of TAP: a "#" would begin a directive.
std::string tap_escaped(const std::string& text) {
  std::string all;
  for (const char c : printable(text)) {
    if (c == '#' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

/// A text between double quotes, whose escapes are the same in JSON and YAML.
std::string yaml_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string yaml_place(const FilePlace& place) {
  std::string all = fmt::format("  at:\n    file: {}\n", yaml_string(place.file));
  if (place.line > 0) all += fmt::format("    line: {}\n    column: {}\n", place.line, place.column);
  return all;
}

std::string yaml_block(const TestCase& test) {
  std::string all = fmt::format("  ---\n  message: {}\n  severity: {}\n", yaml_string(test.text),
                                test.outcome == CaseOutcome::error    ? "error"
                                : test.outcome == CaseOutcome::failed ? "fail"
                                                                      : "comment");
  if (test.outcome != CaseOutcome::ok && !test.place.file.empty()) all += yaml_place(test.place);
  const std::vector<std::string> lines = table_lines(test);
  if (!lines.empty()) all += "  differences:\n";
  for (const std::string& line : lines) all += fmt::format("    - {}\n", yaml_string(line));
  return all + "  ...\n";
}

}  // namespace

std::string tap_begin() { return "TAP version 13\n"; }

std::string tap_point(std::size_t number, const TestSuite& suite, const TestCase& test) {
  const bool bad = test.outcome == CaseOutcome::failed || test.outcome == CaseOutcome::error;
  std::string line =
      fmt::format("{} {} - {}: {}", bad ? "not ok" : "ok", number, tap_escaped(suite.name), tap_escaped(test.name));
  if (test.outcome == CaseOutcome::untested) line += " # SKIP " + tap_escaped(test.text);
  if (test.outcome == CaseOutcome::vacuous) line += " # SKIP vacuous: " + tap_escaped(test.text);
  const bool more = bad || !test.table.empty() || (test.outcome == CaseOutcome::ok && !test.text.empty());
  return line + "\n" + (more ? yaml_block(test) : "");
}

std::string tap_end(std::size_t points) { return fmt::format("1..{}\n", points); }

std::string tap_bail_out(const std::string& reason) { return fmt::format("Bail out! {}\n", tap_escaped(reason)); }

}  // namespace simgrad::outputs

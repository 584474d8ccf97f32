#include "outputs/files/github.h"

#include <algorithm>

#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

constexpr std::size_t remarks_most = 10;
constexpr std::size_t rows_most = 50;

/// Printable, with its line breaks, for which GitHub has escapes.
std::string printable_but_breaks(const std::string& text) {
  std::string all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", from), text.size());
    all += printable(std::string_view(text).substr(from, end - from)) + text.substr(end, 1);
    from = end + 1;
  }
  return all;
}

/// A message with GitHub's escapes; in a property ":" and "," are escaped, too.
std::string github_escaped(const std::string& text, bool property) {
  std::string all;
  for (const char c : printable_but_breaks(text)) {
    if (c == '%')
      all += "%25";
    else if (c == '\r')
      all += "%0D";
    else if (c == '\n')
      all += "%0A";
    else if (property && c == ':')
      all += "%3A";
    else if (property && c == ',')
      all += "%2C";
    else
      all += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return all;
}

std::string annotation(const char* level, const FilePlace& place, const std::string& message) {
  std::string properties;
  if (!place.file.empty()) properties = " file=" + github_escaped(place.file, true);
  if (!place.file.empty() && place.line > 0) properties += fmt::format(",line={},col={}", place.line, place.column);
  return fmt::format("::{}{}::{}\n", level, properties, github_escaped(message, false));
}

bool bad(const TestCase& test) { return test.outcome == CaseOutcome::failed || test.outcome == CaseOutcome::error; }

std::string annotations(const TestCase& test) {
  if (test.outcome == CaseOutcome::ok) return {};
  const char* level = bad(test) ? "error" : "warning";
  const std::string word = test.outcome == CaseOutcome::vacuous    ? "vacuous: "
                           : test.outcome == CaseOutcome::untested ? "untested: "
                                                                   : "";
  if (test.remarks.empty()) return annotation(level, test.place, fmt::format("{}{}: {}", word, test.name, test.text));
  std::string all;
  for (std::size_t k = 0; k < std::min(test.remarks.size(), remarks_most); ++k)
    all += annotation(level, test.remarks[k].place, test.remarks[k].text);
  return all;
}

/// A text in a cell of a Markdown table.
std::string markdown_cell(const std::string& text) {
  std::string all;
  for (const char c : printable(text)) {
    if (c == '<')
      all += "&lt;";
    else if (c == '&')
      all += "&amp;";
    else if (c == '|' || c == '`' || c == '*' || c == '_' || c == '\\' || c == '[' || c == '~')
      all += std::string("\\") + c;
    else
      all += c;
  }
  return all;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& each : cells) row += " " + markdown_cell(each) + " |";
  return row + "\n";
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string all = markdown_row(rows.front()) + "|";
  for (std::size_t k = 0; k < rows.front().size(); ++k) all += "---|";
  all += "\n";
  for (std::size_t i = 1; i < rows.size(); ++i) all += markdown_row(rows[i]);
  return all;
}

const char* outcome_word(CaseOutcome outcome) {
  switch (outcome) {
    case CaseOutcome::failed:
      return "failed";
    case CaseOutcome::error:
      return "error";
    case CaseOutcome::untested:
      return "untested";
    case CaseOutcome::vacuous:
      return "vacuous";
    case CaseOutcome::ok:
      break;
  }
  return "ok";
}

}  // namespace

std::string github_annotations(const std::vector<TestSuite>& suites) {
  std::string all;
  for (const TestSuite& suite : suites)
    for (const TestCase& test : suite.cases) all += annotations(test);
  return all;
}

std::string github_summary(const std::vector<TestSuite>& suites, const std::string& tally) {
  std::vector<std::vector<std::string>> rows{{"", "scenario", "test", "found"}};
  std::string details;
  bool passed = true;
  std::size_t left_out = 0;
  for (const TestSuite& suite : suites)
    for (const TestCase& test : suite.cases) {
      passed = passed && !bad(test);
      if (!test.table.empty()) {
        details += fmt::format("\n{}: {}\n\n", markdown_cell(suite.name), markdown_cell(test.name)) +
                   markdown_table(test.table);
        if (test.rows_left_out > 0) details += fmt::format("\n... and {} more\n", test.rows_left_out);
      }
      if (test.outcome == CaseOutcome::ok) continue;
      if (rows.size() <= rows_most)
        rows.push_back({outcome_word(test.outcome), suite.name, test.name, test.text});
      else
        ++left_out;
    }
  std::string all = fmt::format("### simgrad check: {}\n", passed ? "passed" : "failed");
  if (!tally.empty()) all += fmt::format("\n{}\n", markdown_cell(tally));
  if (rows.size() > 1) all += "\n" + markdown_table(rows);
  if (left_out > 0) all += fmt::format("\n... and {} more\n", left_out);
  return all + details;
}

}  // namespace simgrad::outputs

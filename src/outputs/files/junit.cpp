#include "outputs/files/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "outputs/text/utf8.h"

namespace simgrad::outputs {
namespace {

constexpr std::string_view utf8_replacement = "\xEF\xBF\xBD";

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    const char c = text.front();
    // XML allows neither U+FFFE nor U+FFFF.
    if (!character.sound || character.code == 0xFFFE || character.code == 0xFFFF)
      result += utf8_replacement;
    else if (character.bytes > 1)
      result += text.substr(0, character.bytes);
    else if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\n' || c == '\t' || c == '\r')
      result += fmt::format("&#{};", static_cast<int>(c));
    else if (static_cast<unsigned char>(c) < 0x20)
      result += utf8_replacement;
    else
      result += c;
    text.remove_prefix(character.bytes);
  }
  return result;
}

bool skipped(const TestCase& test) {
  return test.outcome == CaseOutcome::untested || test.outcome == CaseOutcome::vacuous;
}

std::string counts(const std::vector<const TestCase*>& cases) {
  const auto count = [&](CaseOutcome outcome) {
    return std::ranges::count_if(cases, [&](const TestCase* each) { return each->outcome == outcome; });
  };
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", cases.size(),
                     count(CaseOutcome::failed), count(CaseOutcome::error),
                     count(CaseOutcome::untested) + count(CaseOutcome::vacuous));
}

/// "<failure message="..."/>", with the details inside, if there are any.
std::string element(const char* name, const TestCase& test, const std::string& before = {}) {
  const std::vector<std::string> details = table_lines(test);
  std::string all = fmt::format("      <{} message=\"{}{}\"", name, before, escaped(test.text));
  if (details.empty()) return all + "/>\n";
  all += ">";
  for (const std::string& line : details) all += escaped(line) + "\n";
  return all + fmt::format("</{}>\n", name);
}

std::string case_text(const TestSuite& suite, const TestCase& test) {
  std::string inside;
  if (test.outcome == CaseOutcome::failed) inside = element("failure", test);
  if (test.outcome == CaseOutcome::error) inside = element("error", test);
  if (skipped(test)) inside = element("skipped", test, test.outcome == CaseOutcome::vacuous ? "vacuous: " : "");
  if (test.outcome == CaseOutcome::ok && !test.text.empty())
    inside = fmt::format("      <system-out>{}</system-out>\n", escaped(test.text));
  std::string start =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(suite.name), escaped(test.name));
  if (test.time_s) start += fmt::format(" time=\"{:.3f}\"", *test.time_s);
  return inside.empty() ? start + "/>\n" : start + ">\n" + inside + "    </testcase>\n";
}

}  // namespace

std::string junit(const std::vector<TestSuite>& suites) {
  std::vector<const TestCase*> all;
  std::string inside;
  for (const TestSuite& suite : suites) {
    std::vector<const TestCase*> cases;
    for (const TestCase& test : suite.cases) cases.push_back(&test);
    all.insert(all.end(), cases.begin(), cases.end());
    inside += fmt::format("  <testsuite name=\"{}\" {}>\n", escaped(suite.name), counts(cases));
    for (const TestCase& test : suite.cases) inside += case_text(suite, test);
    inside += "  </testsuite>\n";
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n{}</testsuites>\n", counts(all),
                     inside);
}

}  // namespace simgrad::outputs

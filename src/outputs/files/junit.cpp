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

std::string counts(const std::vector<const TestCase*>& cases) {
  const auto count = [&](const std::optional<std::string> TestCase::*outcome) {
    return std::ranges::count_if(cases, [&](const TestCase* each) { return (each->*outcome).has_value(); });
  };
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", cases.size(),
                     count(&TestCase::failure), count(&TestCase::error), count(&TestCase::skipped));
}

std::string case_text(const TestSuite& suite, const TestCase& test) {
  std::string inside;
  const auto add = [&](const char* element, const std::optional<std::string>& message) {
    if (message) inside += fmt::format("      <{} message=\"{}\"/>\n", element, escaped(*message));
  };
  add("failure", test.failure);
  add("error", test.error);
  add("skipped", test.skipped);
  if (!test.output.empty()) inside += fmt::format("      <system-out>{}</system-out>\n", escaped(test.output));
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

#include "outputs/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace simgrad::outputs {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The bytes of the UTF-8 character at the beginning, or 0 where there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3
                         : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  if (size == 0 || text.size() < size) return 0;
  std::uint32_t code = first & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool not_xml = (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF;
  return too_long || not_xml ? 0 : size;
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character(text);
    const char c = text.front();
    if (size != 1)
      result += size == 0 ? replacement : text.substr(0, size);
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
      result += replacement;
    else
      result += c;
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string counts(const std::vector<const TestCase*>& cases) {
  const auto count = [&](const std::optional<std::string> TestCase::*what) {
    return std::ranges::count_if(cases, [&](const TestCase* each) { return (each->*what).has_value(); });
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
  const std::string start =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(suite.name), escaped(test.name));
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

// CITATION.cff: what the Citation File Format 1.2.0 requires, and that it says what the project says elsewhere.
#include <map>
#include <regex>

#include "catch.h"
#include "house/repository.h"

namespace citation_test {

using namespace simgrad::tests;

namespace {

/// The keys at the beginning of lines with their values, without quotes; a list or a folded text has "" or ">-".
std::map<std::string, std::string> top_level(const std::string& text) {
  std::map<std::string, std::string> values;
  static const std::regex entry("^([a-z-]+):\\s*\"?([^\"]*)\"?$");
  for (const std::string& line : lines(text))
    if (std::smatch match; std::regex_match(line, match, entry)) {
      CHECK_FALSE(values.contains(match[1].str()));
      values[match[1].str()] = match[2].str();
    }
  return values;
}

std::string first_match(const std::string& text, const char* pattern) {
  std::smatch match;
  REQUIRE(std::regex_search(text, match, std::regex(pattern)));
  return match[1].str();
}

}  // namespace

TEST_CASE("CITATION.cff has the keys that its format requires, and no others than it knows") {
  const auto values = top_level(text_of("CITATION.cff"));
  CHECK(values.at("cff-version") == "1.2.0");
  CHECK(values.at("type") == "software");
  for (const char* key : {"message", "title", "authors"}) CHECK(values.contains(key));
  // The schema's other keys that a release has: https://github.com/citation-file-format, schema 1.2.0.
  const std::set<std::string> known{"cff-version",   "message", "title",    "type",        "authors",
                                    "version",       "license", "abstract", "keywords",    "references",
                                    "date-released", "doi",     "url",      "identifiers", "repository-code"};
  for (const auto& [key, value] : values) {
    INFO(key);
    CHECK(known.contains(key));
  }
}

TEST_CASE("CITATION.cff has the version of CMakeLists.txt, and the license of LICENSE") {
  const auto values = top_level(text_of("CITATION.cff"));
  CHECK(values.at("version") == first_match(text_of("CMakeLists.txt"), R"(project\(simgrad VERSION ([0-9.]+))"));
  REQUIRE(text_of("LICENSE").find("Apache License") != std::string::npos);
  CHECK(values.at("license") == "Apache-" + first_match(text_of("LICENSE"), R"(Version (\d\.\d), January)"));
}

}  // namespace citation_test

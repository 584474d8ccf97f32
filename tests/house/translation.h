/// The common parts of a page and its translation: commands, printed text, code and numbers.
#pragma once

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "house/documents.h"

namespace simgrad::tests {

inline std::vector<std::string> matches(const std::string& text, const std::regex& pattern, int group = 0) {
  std::vector<std::string> all;
  for (std::sregex_iterator each(text.begin(), text.end(), pattern), end; each != end; ++each)
    all.push_back((*each)[group]);
  return all;
}

inline std::set<std::string> set_of(const std::vector<std::string>& all) { return {all.begin(), all.end()}; }

inline std::vector<std::string> headings(const std::string& text) {
  std::vector<std::string> all;
  for (const std::string& line : lines(text))
    if (line.starts_with("## ")) all.push_back(line.substr(3));
  return all;
}

/// The numbers of a page, but for those in links.
inline std::set<std::string> numbers(const std::string& text) {
  static const std::regex link(R"(\]\([^)]*\))");
  static const std::regex number(R"([0-9]+([.,][0-9]+)*)");
  return set_of(matches(std::regex_replace(text, link, "]"), number));
}

/// The texts between single backticks, even across line breaks.
inline std::set<std::string> code(const std::string& text) {
  const std::string prose = std::regex_replace(text, std::regex("```[^`]*```"), "");
  std::set<std::string> all;
  for (const std::string& each : matches(prose, std::regex("`[^`]+`")))
    all.insert(std::regex_replace(each, std::regex(R"(\s+)"), " "));
  return all;
}

/// The targets of a page's links, without what follows a '#'.
inline std::vector<std::string> links(const std::string& text) {
  static const std::regex link(R"(\]\(([^)#]+)[^)]*\))");
  return matches(text, link, 1);
}

/// The links of a page in this folder of the repository lead somewhere. The web is not asked.
inline void check_links(const std::string& text, const std::filesystem::path& folder) {
  for (const std::string& target : links(text)) {
    INFO("link to " << target);
    if (target.starts_with("https://")) continue;
    CHECK(std::filesystem::exists(source_dir() / folder / target));
  }
}

inline void check_translation(const std::string& text, const std::string& translation) {
  CHECK(fenced(text, "sh") == fenced(translation, "sh"));
  CHECK(fenced(text, "text") == fenced(translation, "text"));
  CHECK(code(text) == code(translation));
  CHECK(numbers(text) == numbers(translation));
}

}  // namespace simgrad::tests

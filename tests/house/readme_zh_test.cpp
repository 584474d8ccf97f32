// The Chinese README says what the English one says: section by section, row by row.
#include "house/translation.h"

namespace readme_zh_test {

using namespace simgrad::tests;

namespace {

const std::string english = "README.md";
const std::string chinese = "README.zh.md";

/// A page, cut before every heading; what stands before the first is a section, too.
std::vector<std::string> sections(const std::string& text) {
  std::vector<std::string> all{""};
  for (const std::string& line : lines(text)) {
    if (line.starts_with("## ")) all.emplace_back();
    all.back() += line + "\n";
  }
  return all;
}

std::vector<std::string> lines_that_begin(const std::string& text, const std::string& mark) {
  std::vector<std::string> all = lines(text);
  std::erase_if(all, [&](const std::string& line) { return !line.starts_with(mark); });
  return all;
}

/// Scenarios without their comments, which are translated.
std::vector<std::string> uncommented(std::vector<std::string> scenarios) {
  for (std::string& scenario : scenarios) scenario = std::regex_replace(scenario, std::regex(" *#[^\n]*"), "");
  return scenarios;
}

/// The targets of a page's links, without the links between the two pages. A page in Chinese counts as the English one.
std::set<std::string> targets(const std::string& text) {
  std::set<std::string> all;
  for (const std::string& link : links(text))
    if (link != english && link != chinese) all.insert(std::regex_replace(link, std::regex("\\.zh\\.md$"), ".md"));
  return all;
}

std::size_t paragraphs(const std::string& text) { return matches(text, std::regex("\n\n")).size(); }

}  // namespace

TEST_CASE("the Chinese README has the sections, code, numbers and links of the English one") {
  const std::vector<std::string> originals = sections(text_of(english));
  const std::vector<std::string> translations = sections(text_of(chinese));
  REQUIRE(originals.size() > 1);
  REQUIRE(originals.size() == translations.size());
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const std::string& text = originals[i];
    const std::string& translation = translations[i];
    INFO(lines(text).at(0) << ", " << lines(translation).at(0));
    check_translation(text, translation);
    CHECK(uncommented(fenced(text, "toml")) == uncommented(fenced(translation, "toml")));
    CHECK(targets(text) == targets(translation));
    CHECK(paragraphs(text) == paragraphs(translation));
    CHECK(lines_that_begin(text, "* ").size() == lines_that_begin(translation, "* ").size());
  }
}

TEST_CASE("the Chinese README's tables have the rows of the English ones, in their order") {
  const std::vector<std::string> rows = lines_that_begin(text_of(english), "|");
  const std::vector<std::string> translated = lines_that_begin(text_of(chinese), "|");
  REQUIRE_FALSE(rows.empty());
  REQUIRE(rows.size() == translated.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i] << "\n" << translated[i]);
    CHECK(std::count(rows[i].begin(), rows[i].end(), '|') ==
          std::count(translated[i].begin(), translated[i].end(), '|'));
    CHECK(code(rows[i]) == code(translated[i]));
    CHECK(numbers(rows[i]) == numbers(translated[i]));
    CHECK(targets(rows[i]) == targets(translated[i]));
  }
}

TEST_CASE("the comments of the Chinese README's scenarios leave them valid") {
  const Scratch scratch;
  std::vector<std::string> resolved;
  for (const std::string& page : {english, chinese}) {
    std::string scenario;
    for (const std::string& block : fenced(text_of(page), "toml")) scenario += block;
    scratch.write("mine.toml", scenario);
    const Called called = call("simgrad validate mine.toml", scratch.path());
    INFO(page << "\n" << called.err);
    REQUIRE(called.exit_code == 0);
    resolved.push_back(called.out);
  }
  CHECK(resolved.at(0) == resolved.at(1));
}

TEST_CASE("the READMEs link to each other, and what they link to is there") {
  CHECK(text_of(english).find("\n[中文](" + chinese + ")\n") != std::string::npos);
  CHECK(text_of(chinese).find("\n[English](" + english + ")\n") != std::string::npos);
  for (const std::string& page : {english, chinese}) {
    INFO(page);
    check_links(text_of(page), "");
  }
}

TEST_CASE("the Chinese list of scenarios has the rows and links of the English one") {
  const std::string english_list = text_of("scenarios/README.md"), chinese_list = text_of("scenarios/README.zh.md");
  check_translation(english_list, chinese_list);
  check_links(english_list, "scenarios");
  check_links(chinese_list, "scenarios");
}

}  // namespace readme_zh_test

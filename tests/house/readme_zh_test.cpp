// The Chinese README and the Chinese pages of docs say what the English ones say: section by section, row by row.
#include "house/translation.h"

namespace readme_zh_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

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

/// The targets of a page's links. A page in Chinese counts as the English one.
std::set<std::string> targets(const std::string& text) {
  std::set<std::string> all;
  for (const std::string& link : links(text))
    all.insert(std::regex_replace(std::regex_replace(link, std::regex("\\.zh\\.md$"), ".md"), std::regex("/zh/"), "/"));
  return all;
}

std::size_t paragraphs(const std::string& text) { return matches(text, std::regex("\n\n")).size(); }

/// The pages that people translate: analysis/published_table.py makes docs/published.md in either language.
std::vector<fs::path> translated_pages() {
  std::vector<fs::path> all = pages();
  std::erase(all, "docs/published.md");
  return all;
}

}  // namespace

TEST_CASE("the Chinese README and pages have the sections, code, numbers and links of the English ones") {
  for (const fs::path& page : translated_pages()) {
    INFO(page);
    const std::vector<std::string> originals = sections(text_of(page));
    const std::vector<std::string> translations = sections(text_of(in_chinese(page)));
    REQUIRE_FALSE(originals.empty());
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
}

TEST_CASE("the tables of the Chinese README and pages have the rows of the English ones, in their order") {
  std::size_t compared = 0;
  for (const fs::path& page : translated_pages()) {
    const std::vector<std::string> rows = lines_that_begin(text_of(page), "|");
    const std::vector<std::string> translated = lines_that_begin(text_of(in_chinese(page)), "|");
    INFO(page);
    REQUIRE(rows.size() == translated.size());
    compared += rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      INFO(rows[i] << "\n" << translated[i]);
      CHECK(std::count(rows[i].begin(), rows[i].end(), '|') ==
            std::count(translated[i].begin(), translated[i].end(), '|'));
      CHECK(code(rows[i]) == code(translated[i]));
      CHECK(numbers(rows[i]) == numbers(translated[i]));
      CHECK(targets(rows[i]) == targets(translated[i]));
    }
  }
  CHECK(compared >= 100);
}

TEST_CASE("the comments of the scenarios in Chinese pages leave them valid") {
  const Scratch scratch;
  int compared = 0;
  for (const fs::path& page : translated_pages()) {
    if (page == "docs/teaching.md") continue;  // files of a class, which tests/analysis/homework_test.py checks
    for (const auto& [name, scenario] : scenarios_in(text_of(page))) {
      std::vector<std::string> resolved;
      for (const std::string& each : {scenario, scenarios_in(text_of(in_chinese(page))).at(name)}) {
        scratch.write(name, each);
        const Called called = call("simgrad validate --resolved " + name, scratch.path());
        INFO(page << ", " << name << "\n" << called.err);
        REQUIRE(called.exit_code == 0);
        resolved.push_back(called.out);
      }
      CHECK(resolved.at(0) == resolved.at(1));
      ++compared;
    }
  }
  CHECK(compared == 3);
}

TEST_CASE("the Chinese list of scenarios has the rows and links of the English one") {
  const std::string english_list = text_of("scenarios/README.md"), chinese_list = text_of("scenarios/README.zh.md");
  check_translation(english_list, chinese_list);
  check_links(english_list, "scenarios");
  check_links(chinese_list, "scenarios");
}

}  // namespace readme_zh_test

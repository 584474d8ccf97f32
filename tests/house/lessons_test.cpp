// The lessons: complete in both languages, their commands run, and their numbers are what the program finds.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "house/translation.h"
#include "share.h"

namespace lessons_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const fs::path english = "docs/lessons";
const fs::path chinese = "docs/lessons/zh";
const fs::path answers = "docs/lessons/answers";
const fs::path answers_in_chinese = "docs/lessons/answers/zh";
const fs::path lesson_scenarios = "scenarios/lessons";
constexpr std::size_t lesson_count = 19;

/// The files of a folder of the repository with this ending, in order: paths relative to it.
std::vector<fs::path> files_of(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(source_dir() / folder))
    if (entry.path().extension() == ending) all.push_back(folder / entry.path().filename());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<fs::path> lessons() {
  std::vector<fs::path> pages = files_of(english, ".md");
  std::erase(pages, english / "README.md");
  return pages;
}

Called called_in_a_clone(const std::string& commands) {
  const Scratch scratch;
  furnish(scratch.path());
  return call("set -e\n" + commands, scratch.path());
}

/// A Python that can draw, and its matplotlib's version; nothing where there is none.
struct Painter {
  std::string python, version;
};

Painter painter() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const Called called = call(std::string(python) + " -c 'import matplotlib, pandas; print(matplotlib.__version__)'",
                               source_dir().string());
    if (called.exit_code == 0) return {python, called.out};
  }
  return {};
}

/// The version that drew the committed figures: other versions have other layouts.
const std::string drawn_with = "3.6.3\n";

/// The scenario as the program resolves it, without what it expects, and its runs: what is simulated.
std::string resolved(const std::string& arguments) {
  const Called called = call("simgrad validate --resolved " + arguments, source_dir().string());
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  std::string kept;
  bool expects = false;
  for (const std::string& line : lines(called.out)) {
    if (line.starts_with('[') || line.starts_with('#')) expects = line.starts_with("[[expect]]");
    if (!expects) kept += line + '\n';
  }
  return kept;
}

/// The scenario that expects what the answer to a lesson's run says, or with `of_exercise` to its exercise.
fs::path answer_of(const fs::path& page, bool of_exercise = false) {
  return lesson_scenarios / "answers" / (page.stem().string() + (of_exercise ? "_exercise.toml" : ".toml"));
}

std::string command_of(const std::string& block) { return block.substr(0, block.find('\n')); }

}  // namespace

TEST_CASE("every lesson and its answer have their parts, in both languages") {
  const std::vector<std::string> parts{"Question", "Predict", "Run", "Exercise", "Hand in"};
  const std::vector<std::string> parts_in_chinese{"问题", "先预测", "运行", "练习", "交什么"};
  REQUIRE(lessons().size() == lesson_count);
  for (const fs::path& page : lessons()) {
    INFO(page);
    const fs::path translation = chinese / page.filename();
    REQUIRE(fs::exists(source_dir() / translation));
    CHECK(headings(text_of(page)) == parts);
    CHECK(headings(text_of(translation)) == parts_in_chinese);
    for (const fs::path& each : {page, translation}) CHECK(fenced(text_of(each), "sh").size() == 2);
    const fs::path answer = answers / page.filename(), translated = answers_in_chinese / page.filename();
    REQUIRE(fs::exists(source_dir() / answer));
    REQUIRE(fs::exists(source_dir() / translated));
    CHECK(headings(text_of(answer)) == std::vector<std::string>{"Explanation", "Limits of the model", "Exercise"});
    CHECK(headings(text_of(translated)) == std::vector<std::string>{"解释", "模型的局限", "练习"});
    for (const fs::path& each : {answer, translated}) {
      CHECK(fenced(text_of(each), "sh").size() == 2);
      CHECK(fenced(text_of(each), "text").size() >= 1);
    }
  }
}

TEST_CASE("a lesson does not show its answer, and ends with what is handed in and a link to the answer") {
  for (const fs::path& page : lessons())
    for (const auto& [each, to_answers] :
         {std::pair{page, std::string("answers/")}, {chinese / page.filename(), "../answers/zh/"}}) {
      INFO(each);
      const std::string text = text_of(each);
      for (const char* shown :
           {"figures/", "lesson_figures.py", "scenarios/lessons/answers", "<details>", "simgrad check"})
        CHECK(text.find(shown) == std::string::npos);
      CHECK(lines(text).back().find("](" + to_answers + page.filename().string() + ")") != std::string::npos);
      CHECK(text_of(lesson_scenarios / page.stem().concat(".toml")).find("[[expect]]") == std::string::npos);
    }
}

TEST_CASE("every lesson is in the list of lessons, in both languages") {
  for (const fs::path& page : lessons())
    for (const fs::path& folder : {english, chinese}) {
      INFO(folder / page.filename());
      CHECK(text_of(folder / "README.md").find("](" + page.filename().string() + ")") != std::string::npos);
    }
}

TEST_CASE("the Chinese lessons have the commands, formulas and numbers of the English ones") {
  std::vector<fs::path> pages = lessons();
  pages.push_back(english / "README.md");
  for (const fs::path& page : pages) {
    INFO(page);
    check_translation(text_of(page), text_of(chinese / page.filename()));
    if (page.filename() == "README.md") continue;
    check_translation(text_of(answers / page.filename()), text_of(answers_in_chinese / page.filename()));
  }
}

TEST_CASE("the links of the lessons lead somewhere") {
  for (const fs::path& folder : {english, chinese, answers, answers_in_chinese})
    for (const fs::path& page : files_of(folder, ".md")) {
      INFO(page);
      check_links(text_of(page), folder);
    }
}

TEST_CASE("every lesson has a figure, and none is large") {
  for (const fs::path& page : lessons()) {
    const fs::path figure = answers / "figures" / page.stem().concat(".svg");
    INFO(figure);
    REQUIRE(fs::exists(source_dir() / figure));
    CHECK(fs::file_size(source_dir() / figure) < 60'000);
    const std::string link = "figures/" + figure.filename().string() + ")";
    CHECK(text_of(answers / page.filename()).find("](" + link) != std::string::npos);
    CHECK(text_of(answers_in_chinese / page.filename()).find("](../" + link) != std::string::npos);
  }
}

namespace {

/// Whether two drawings differ at most in the last digit of their numbers, which processors round differently.
bool same_drawing(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const char *at = a.c_str(), *other = b.c_str();
  while (*at && *other) {
    if (digit(*at) && digit(*other)) {
      char *end = nullptr, *other_end = nullptr;
      if (std::abs(std::strtod(at, &end) - std::strtod(other, &other_end)) > 2e-6) return false;
      at = end;
      other = other_end;
    } else if (*at++ != *other++) {
      return false;
    }
  }
  return !*at && !*other;
}

}  // namespace

TEST_CASE("every lesson's experiment runs and draws its figure") {
  const Scratch clone;
  furnish(clone.path());
  const auto [python, version] = painter();
  if (python.empty()) WARN("figures are not drawn: apt-get install python3-matplotlib python3-pandas");
  std::string results;
  std::vector<fs::path> ran;
  Share share;
  for (const fs::path& page : lessons()) {
    if (!share.next()) continue;
    ran.push_back(page);
    INFO(page);
    const std::string name = page.stem().string();
    const std::string command = fenced(text_of(page), "sh").at(0);
    CHECK(command.starts_with("build/simgrad run scenarios/lessons/" + name + ".toml"));
    CHECK(text_of(answers / page.filename()).find("`python3 analysis/lesson_figures.py out/" + name + "`") !=
          std::string::npos);
    const Called called = call(command, clone.path());
    INFO(called.out << called.err);
    REQUIRE(called.exit_code == 0);
    results += " out/" + name;
  }
  if (python.empty()) return;
  const Called drawn = call(python + " -B analysis/lesson_figures.py" + results, clone.path());
  INFO(drawn.err);
  CHECK(drawn.exit_code == 0);
  for (const fs::path& page : ran) {
    INFO(page << ": if its run is right, draw its figure again");
    const std::string figure = contents((fs::path(clone.path()) / "out" / page.stem() / "lesson.svg").string());
    CHECK(figure.ends_with("</svg>\n"));
    if (version == drawn_with) CHECK(same_drawing(figure, text_of(answers / "figures" / page.stem().concat(".svg"))));
  }
}

TEST_CASE("every lesson's scenario begins with a question, and so do its answers") {
  REQUIRE(files_of(lesson_scenarios, ".toml").size() == lesson_count);
  REQUIRE(files_of(lesson_scenarios / "answers", ".toml").size() == 2 * lesson_count);
  for (const fs::path& folder : {lesson_scenarios, lesson_scenarios / "answers"})
    for (const fs::path& path : files_of(folder, ".toml")) {
      INFO(path);
      const std::string first = lines(text_of(path)).at(0);
      CHECK(first.starts_with("# "));
      CHECK(first.ends_with("?"));
    }
}

TEST_CASE("the answers are what the program finds, to the lessons and to their exercises") {
  Share share;
  for (const fs::path& page : lessons()) {
    if (!share.next()) continue;
    INFO(page);
    const std::vector<std::string> commands = fenced(text_of(answers / page.filename()), "sh");
    CHECK(commands.at(0) == "build/simgrad check " + answer_of(page).string() + "\n");
    CHECK(commands.at(1) == "build/simgrad check " + answer_of(page, true).string() + "\n");
    const Called called = called_in_a_clone(commands.at(0) + commands.at(1));
    INFO(called.out << called.err);
    CHECK(called.exit_code == 0);
  }
}

TEST_CASE("an answer is about the change that its exercise asks for") {
  const std::string run = "build/simgrad run ";
  for (const fs::path& page : lessons()) {
    INFO(page);
    std::string command = command_of(fenced(text_of(page), "sh").at(1));
    REQUIRE(command.starts_with(run));
    // Beside the lesson's own results, which the figure is drawn from.
    const std::string out = " --out out/" + page.stem().string() + "_exercise";
    REQUIRE(command.ends_with(out));
    command.resize(command.size() - out.size());
    command = std::regex_replace(command.substr(run.size()), std::regex(" --no-baseline"), "");
    const std::string lesson = resolved((lesson_scenarios / page.stem().concat(".toml")).string());
    CHECK(resolved(answer_of(page).string()) == lesson);
    CHECK(resolved(answer_of(page, true).string()) == resolved(command));
    CHECK(resolved(command) != lesson);
  }
}

}  // namespace lessons_test

// The documents' commands run as they stand, and the README's tables are what the program prints.
#include "catch.h"
#include "house/documents.h"
#include "outputs/text/text_layout.h"
#include "share.h"

namespace readme_test {

using namespace simgrad;
using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

std::string table_of(const std::string& printed) { return printed.substr(0, printed.find("\nResults: ")); }

/// Scripts are what CI itself runs: they install packages, build everything and run this very test. Cloning needs a
/// network.
bool left_to_ci(const std::string& line) {
  return line.starts_with("script/") || line.starts_with("git clone") || line.starts_with("cd ");
}

/// Runs the commands of a page in a directory of its own, and returns how many times they call the program.
int run_commands_of(const fs::path& page) {
  const Scratch scratch;
  furnish(scratch.path());
  for (const auto& [name, scenario] : scenarios_in(text_of(page))) scratch.write(name, scenario);
  int ran = 0;
  for (const std::string& block : fenced(text_of(page), "sh")) {
    std::string commands = "set -e\n";
    for (const std::string& line : lines(block)) {
      if (left_to_ci(line)) continue;
      commands += line + "\n";
      if (line.find("build/simgrad") != std::string::npos) ++ran;
    }
    INFO(block);
    const Called called = call(commands, scratch.path());
    INFO(called.out << called.err);
    if (called.exit_code == 5 && called.err.find("without Node") != std::string::npos)
      WARN("not run to its end, for simgrad was built without Node:\n" << block);
    else
      CHECK(called.exit_code == 0);
  }
  return ran;
}

}  // namespace

TEST_CASE("every command in the README runs") {
  REQUIRE(scenarios_in(text_of("README.md")).size() == 2);
  CHECK(run_commands_of("README.md") == 3);
}

TEST_CASE("every command in the pages of docs runs") {
  const std::string scenario = scenarios_in(text_of("docs/scenarios.md")).at("mine.toml");
  CHECK(scenario.find("[[expect]]") != std::string::npos);  // the second block is appended to the first
  int ran = 0;
  Share share;
  for (const fs::path& page : pages()) {
    // The README has a case of its own. The commands of two pages need Python: tests/analysis/documents_test.py runs
    // those of the figures, tests/analysis/homework_test.py those for teachers.
    if (page == "README.md" || page == "docs/figures.md" || page == "docs/teaching.md" || !share.next()) continue;
    INFO(page);
    ran += run_commands_of(page);
  }
  if (share.whole()) CHECK(ran >= 28);
}

TEST_CASE("the README of scenarios names every scenario, in both languages") {
  for (const char* page : {"scenarios/README.md", "scenarios/README.zh.md"}) {
    const std::string text = text_of(page);
    for (const fs::path& path : scenario_files()) {
      INFO(page << ": " << path);
      CHECK(text.find("](" + path.filename().string() + ")") != std::string::npos);
    }
  }
}

TEST_CASE("the picture of the README is a small PNG") {
  const std::string picture = contents((source_dir() / "docs/report.png").string());
  CHECK(text_of("README.md").find("](docs/report.png)") != std::string::npos);
  CHECK(picture.starts_with("\x89PNG\r\n"));
  CHECK(picture.size() < 150'000);
}

TEST_CASE("the READMEs are short enough to be read") {
  for (const char* page : {"README.md", "README.zh.md"}) {
    INFO(page);
    CHECK(text_of(page).size() <= 10'000);
  }
}

TEST_CASE("the README shows the table that the demo prints") {
  const std::vector<std::string> shown = fenced(text_of("README.md"), "text");
  REQUIRE_FALSE(shown.empty());
  const Scratch scratch;
  const Called called =
      call("simgrad run '" + (source_dir() / "scenarios/house_prices.toml").string() + "' --out out", scratch.path());
  REQUIRE(called.exit_code == 0);
  INFO("If the program is right, this is what the README must show:\n" << table_of(called.out));
  CHECK(shown.front() == table_of(called.out));
  CHECK(fenced(text_of("docs/reading_a_table.md"), "text").at(0) == table_of(called.out));
  CHECK(called.out.find('\033') == std::string::npos);  // it is no terminal
  for (const std::string& line : lines(table_of(called.out))) {
    INFO(line);
    CHECK(outputs::display_width(line) <= 80);
  }
}

TEST_CASE("the README shows the table of its example on GPUs") {
  const std::vector<std::string> shown = fenced(text_of("README.md"), "text");
  REQUIRE(shown.size() == 2);
  const Scratch scratch;
  scratch.write("ddp.toml", scenarios_in(text_of("README.md")).at("ddp.toml"));
  const Called called = call("simgrad run ddp.toml", scratch.path());
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  // Notes say how the simulation was done, and would fill the README.
  const std::string table = called.out.substr(0, called.out.find("\nNote (") + 1);
  INFO("If the program is right, this is what the README must show:\n" << table);
  CHECK(shown.back() == table);
}

}  // namespace readme_test

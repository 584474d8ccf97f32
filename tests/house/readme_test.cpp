// The documents' commands run as they stand, and the README's table is what the program prints.
#include "catch.h"
#include "house/documents.h"
#include "outputs/text/text_layout.h"

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

}  // namespace

TEST_CASE("every command in the README runs") {
  const Scratch scratch;
  furnish(scratch.path());
  const std::vector<std::string> scenarios = fenced(text_of("README.md"), "toml");
  REQUIRE(scenarios.size() == 2);
  scratch.write("mine.toml", scenarios[0] + scenarios[1]);  // as the README tells its readers to do
  int ran = 0;
  for (const std::string& block : fenced(text_of("README.md"), "sh")) {
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
  CHECK(ran >= 8);
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

TEST_CASE("the README shows the table that the demo prints") {
  const std::vector<std::string> shown = fenced(text_of("README.md"), "text");
  REQUIRE_FALSE(shown.empty());
  const Scratch scratch;
  const Called called =
      call("simgrad run '" + (source_dir() / "scenarios/house_prices.toml").string() + "' --out out", scratch.path());
  REQUIRE(called.exit_code == 0);
  INFO("If the program is right, this is what the README must show:\n" << table_of(called.out));
  CHECK(shown.front() == table_of(called.out));
  CHECK(called.out.find('\033') == std::string::npos);  // it is no terminal
  for (const std::string& line : lines(table_of(called.out))) {
    INFO(line);
    CHECK(outputs::display_width(line) <= 80);
  }
}

}  // namespace readme_test

// --language: the table and the report in Chinese, from the option or from the environment.
#include <fstream>
#include <iterator>

#include "catch.h"
#include "cli/program.h"
#include "cli/scenario.h"

namespace language_cli_test {

using namespace simgrad::tests;

namespace {

const std::string run =
    "simgrad run " SIMGRAD_SOURCE_DIR "/scenarios/house_prices.toml --set stop.steps=3 --strategy allreduce --no-why";

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool chinese(const std::string& text) { return text.find("策略") != std::string::npos; }

}  // namespace

TEST_CASE("language: the option, else the first of LC_ALL, LC_MESSAGES and LANG that is not empty, decides") {
  const Scratch scratch;
  const auto table = [&](const std::string& before, const std::string& after) {
    const Called called = call(before + " " + run + " " + after, scratch.path());
    CHECK(called.exit_code == 0);
    return called.out;
  };
  CHECK_FALSE(chinese(table("", "")));
  CHECK(chinese(table("", "--language zh")));
  CHECK(chinese(table("LC_ALL=zh_CN.UTF-8", "")));
  CHECK(chinese(table("LC_ALL= LC_MESSAGES=zh_TW LANG=en_GB", "")));
  CHECK_FALSE(chinese(table("LC_ALL= LC_MESSAGES=C LANG=zh_CN", "")));
  CHECK_FALSE(chinese(table("LC_ALL=zh_CN.UTF-8", "--language en")));
}

TEST_CASE("language: an unknown language is refused") {
  const Scratch scratch;
  const Called called = call(run + " --language fr", scratch.path());
  CHECK(called.exit_code == 2);
  CHECK(called.err.find("--language") != std::string::npos);
}

TEST_CASE("language: files are the same in each language but for the page, which report writes in either") {
  const Scratch scratch;
  for (const std::string language : {"en", "zh"})
    CHECK(call(run + " --language " + language + " --out " + language, scratch.path()).exit_code == 0);
  const auto file = [&](const std::string& name) { return contents(scratch.path() + "/" + name); };
  for (const std::string name : {"curves.csv", "ranks.csv", "links.csv"})
    CHECK(file("en/" + name) == file("zh/" + name));
  if (file("en/report.html").empty()) return;  // built without Node
  CHECK(file("en/report.html").find("\"language\":\"en\"") != std::string::npos);
  CHECK(file("zh/report.html").find("\"language\":\"zh\"") != std::string::npos);
  CHECK(call("simgrad report zh --language en", scratch.path()).exit_code == 0);
  CHECK(file("zh/report.html").find("\"language\":\"en\"") != std::string::npos);
}

}  // namespace language_cli_test

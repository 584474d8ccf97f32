// `simgrad init`: scenarios to start from.
#include "catch.h"
#include "cli/scenario.h"

namespace init_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

std::string without_marks(std::string text) {
  for (const std::string& line : {std::string("# [grid]"), std::string("# \"cluster.workers\"")})
    text.replace(text.find(line), 2, "");
  return text;
}

/// The resolved scenario, without the lists of runs.
std::string resolved(const Scratch& scratch, const std::string& file) {
  const Called called = program("validate --resolved " + file, scratch);
  INFO(called.err);
  CHECK(called.exit_code == 0);
  return called.out;
}

}  // namespace

TEST_CASE("init writes a scenario that runs, for hosts and for devices, with a grid behind marks") {
  for (const std::string& options : {std::string(), std::string(" --gpu")}) {
    CAPTURE(options);
    const Scratch scratch;
    const Called called = program("init mine.toml" + options, scratch);
    CHECK(called.exit_code == 0);
    CHECK(called.out == "Wrote mine.toml. To run it: simgrad run mine.toml\n");
    const std::string text = contents(scratch.path() + "/mine.toml");
    const Called run = program("run mine.toml --no-why", scratch);
    CHECK(run.exit_code == 0);
    CHECK(results_in(scratch, "out/mine")["runs"].size() == (options.empty() ? 3 : 2));
    CHECK(contains(run.out, options.empty() ? "Target: loss 0.02" : "MFU"));
    scratch.write("mine.toml", without_marks(text));
    CHECK(contains(resolved(scratch, "mine.toml"), options.empty() ? "9 runs" : "6 runs"));
  }
}

TEST_CASE("init in Chinese is the same scenario") {
  for (const std::string& options : {std::string(), std::string(" --gpu")}) {
    const Scratch english, chinese;
    REQUIRE(program("init" + options + " --language en", english).exit_code == 0);
    const Called called = program("init" + options + " --language zh", chinese);
    CHECK(called.out == "scenario.toml 已写好。运行它：simgrad run scenario.toml\n");
    const auto behind_title = [](const std::string& text) { return text.substr(text.find("\nseed")); };
    CHECK(behind_title(resolved(english, "scenario.toml")) == behind_title(resolved(chinese, "scenario.toml")));
    CHECK(contains(contents(chinese.path() + "/scenario.toml"), "# 一个场景："));
  }
}

TEST_CASE("init replaces no file and follows no link") {
  const Scratch scratch;
  scratch.write("scenario.toml", "mine");
  fs::create_symlink("elsewhere.toml", scratch.path() + "/link.toml");
  for (const std::string& file : {std::string("scenario.toml"), std::string("link.toml")}) {
    const Called refused = program(file == "scenario.toml" ? "init" : "init " + file, scratch);
    CHECK(refused.exit_code == 2);
    CHECK(refused.err == "init: " + file + " exists already; expected the name of a new file\n");
  }
  CHECK(contents(scratch.path() + "/scenario.toml") == "mine");
  CHECK_FALSE(fs::exists(scratch.path() + "/elsewhere.toml"));
  CHECK(program("init nowhere/x.toml", scratch).exit_code == 5);
  CHECK(contains(program("init -- -x.toml", scratch).out, "simgrad run ./-x.toml"));
}

}  // namespace init_test

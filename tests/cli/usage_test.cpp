// The words of the command line itself.
#include "catch.h"
#include "cli/scenario.h"

namespace usage_test {

using namespace simgrad::tests;

namespace {

/// The first line on stderr of a call that is used wrongly.
std::string misuse(const std::string& arguments) {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program(arguments, scratch);
  INFO(arguments);
  CHECK(called.exit_code == 2);
  CHECK(called.out.empty());
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/out"));
  const auto lines = lines_of(called.err);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "Run \"simgrad --help\" for the commands.");
  return lines[0];
}

}  // namespace

TEST_CASE("an unknown command is told with the one that was probably meant") {
  CHECK(
      misuse("rnu x.toml") ==
      "simgrad: unknown command \"rnu\"; did you mean \"run\"? Known: init, run, validate, plan, check, merge, report, "
      "predict, list, explain, calibrate, capacity");
  CHECK(misuse("fetch a b") ==
        "simgrad: unknown command \"fetch\"; known: init, run, validate, plan, check, merge, report, predict, list, "
        "explain, "
        "calibrate, capacity");
  CHECK(
      misuse("") ==
      "simgrad: a command is missing; known: init, run, validate, plan, check, merge, report, predict, list, explain, "
      "calibrate, capacity");
}

TEST_CASE("a scenario without a command is told with the command that runs it") {
  const Scratch scratch;
  scratch.write("mine.toml", "");
  CHECK(lines_of(program("mine.toml", scratch).err).front() ==
        "simgrad: mine.toml is a scenario; did you mean \"simgrad run mine.toml\"?");
  CHECK(program("mine.toml", scratch).exit_code == 2);
}

TEST_CASE("options that say different things about one output are refused together") {
  CHECK(contains(misuse("run x.toml --dry-run --json"), "--dry-run"));
}

TEST_CASE("a misspelt option is told with the one that was probably meant") {
  CHECK(
      misuse("run x.toml --thread 2").starts_with("simgrad: unknown option \"--thread\"; did you mean \"--threads\"?"));
  CHECK(misuse("run x.toml --resume").starts_with("simgrad: unknown option \"--resume\"; known: --help, "));
  CHECK(misuse("run x.toml --quite").starts_with("simgrad: unknown option \"--quite\"; did you mean \"--quiet\"?"));
  CHECK(misuse("validate x.toml --jobs 2").starts_with("simgrad: unknown option \"--jobs\"; "));
}

TEST_CASE("an empty text, as of a variable of the shell that is not set, is no value of an option") {
  CHECK(misuse("run x.toml --seeds ''") == "simgrad: --seeds: found an empty text, expected A..B");
  CHECK(misuse("run x.toml --out ''") == "simgrad: --out: found an empty text, expected DIR");
  CHECK(misuse("run x.toml --run-time ''") == "simgrad: --run-time: found an empty text, expected TIME");
  CHECK(misuse("check x.toml --baseline ''") == "simgrad: --baseline: found an empty text, expected FILE");
}

TEST_CASE("numbers of jobs and threads that cannot be are refused") {
  for (const char* options :
       {"--jobs 0", "--jobs -1", "--jobs x", "--jobs 99999999999", "--threads -1", "--threads 1.5"})
    CHECK(contains(misuse("run x.toml " + std::string(options)), std::string(options).substr(0, 6)));
}

TEST_CASE("a missing scenario is told, and one too many where a command takes one") {
  CHECK(misuse("run") == "simgrad: scenario is required");
  CHECK(contains(misuse("calibrate x.toml y.toml"), "y.toml"));
}

TEST_CASE("help and the version go to stdout and end with 0") {
  const Scratch scratch;
  for (const char* command : {"--help", "run --help", "validate --help", "plan --help", "check --help", "merge --help",
                              "list --help", "explain --help", "--version"}) {
    INFO(command);
    const Called called = program(command, scratch);
    CHECK(called.exit_code == 0);
    CHECK(called.err.empty());
    CHECK_FALSE(called.out.empty());
  }
}

TEST_CASE("the help of run names every option of the contract that this release has") {
  const Scratch scratch;
  const std::string help = program("run --help", scratch).out;
  for (const char* option : {"--set", "--grid", "--no-baseline", "--seeds", "--strategy", "--out", "--jobs",
                             "--threads", "--dry-run", "--json", "--quiet", "--shard", "--emit"})
    CHECK(contains(help, option));
}

}  // namespace usage_test

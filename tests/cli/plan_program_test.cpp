// `plan` and `capacity` are in a program of their own, which `simgrad` starts.
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "cli/planning.h"

namespace plan_program_test {

using namespace simgrad::tests;

TEST_CASE("simgrad hands the words of plan and capacity to simgrad-plan, as they are") {
  const Scratch scratch;
  const std::string directory = scratch.path() + "/two words";
  std::filesystem::create_directory(directory);
  std::filesystem::copy_file(SIMGRAD_PROGRAM, directory + "/simgrad");
  std::ofstream(directory + "/simgrad-plan") << "#!/bin/sh\nprintf '[%s]' \"$@\"\nexit 3\n";
  const std::string program = "'" + directory + "/simgrad' ";
  const auto found = [&](const std::string& words) { return call(program + words, scratch.path()); };

  CHECK(found("plan x.toml").exit_code == 5);
  CHECK(found("plan x.toml").err == "simgrad plan: cannot start " + directory + "/simgrad-plan: Permission denied\n");

  std::filesystem::permissions(directory + "/simgrad-plan", std::filesystem::perms::owner_all);
  const Called handed = found("plan --help 'x y.toml' '' --set a=1 -- -z run");
  CHECK(handed.exit_code == 3);
  CHECK(handed.out == "[plan][--help][x y.toml][][--set][a=1][--][-z][run]");
  CHECK(found("capacity --no-such").out == "[capacity][--no-such]");
  CHECK(found("capacity").out == "[capacity]");
}

TEST_CASE("where there is no simgrad-plan, plan and capacity say how to get it") {
  const Scratch scratch;
  std::filesystem::copy_file(SIMGRAD_PROGRAM, scratch.path() + "/simgrad");
  const std::string missing = scratch.path() + "/simgrad-plan";
  const auto check = [&](const std::string& command, const std::string& message) {
    const Called called = call("./simgrad " + command + " x.toml", scratch.path());
    CHECK(called.exit_code == 5);
    CHECK(called.out.empty());
    CHECK(called.err == "simgrad " + command + ": " + message + "\n");
  };
  for (const std::string command : {"plan", "capacity"})
    check(command, "there is no " + missing +
                       ", which has this command; copy it from the build directory to there, or make simgrad a "
                       "symbolic link to the one that is built");
  std::ofstream(scratch.path() + "/CMakeCache.txt").flush();
  for (const std::string command : {"plan", "capacity"})
    check(command, "the program " + missing + ", which has this command, is not built yet; to build it, type: " +
                       "cmake --build " + scratch.path() + " --target simgrad-plan");
}

TEST_CASE("simgrad and simgrad-plan are the same command line") {
  const Called one = call("simgrad --help", "/"), other = call("simgrad-plan --help", "/");
  CHECK(one.out == other.out);
  CHECK_THAT(one.out, ContainsSubstring("plan ") && ContainsSubstring("capacity ") && ContainsSubstring("run "));
  for (const std::string command : {"plan", "capacity"}) {
    const Called help = call("simgrad " + command + " --help", "/");
    CHECK(help.exit_code == 0);
    CHECK_THAT(help.out, ContainsSubstring("--strategy"));
    CHECK(help.out == call("simgrad-plan " + command + " --help", "/").out);
  }
}

TEST_CASE("a report of a plan's results, which are as they were, is not written again") {
  const Scratch scratch;
  scratch.write("x.toml", twelve);
  REQUIRE(call("simgrad plan x.toml --quiet --out o", scratch.path()).exit_code == 0);
  const std::string page = scratch.path() + "/o/report.html";
  if (!std::filesystem::exists(page)) {
    WARN("skipped: this build has no page");
    return;
  }
  const auto written = std::filesystem::last_write_time(page);
  CHECK(call("simgrad report o", scratch.path()).exit_code == 0);
  CHECK(std::filesystem::last_write_time(page) == written);
}

}  // namespace plan_program_test

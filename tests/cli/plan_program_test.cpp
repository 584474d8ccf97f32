// `plan` and `capacity` are in a program of their own, which `simgrad` starts.
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "cli/scenario.h"

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

TEST_CASE("Where simgrad-plan is not built, plan and capacity say how it is") {
  const Scratch scratch;
  std::filesystem::copy_file(SIMGRAD_PROGRAM, scratch.path() + "/simgrad");
  for (const std::string command : {"plan", "capacity"}) {
    const Called called = call("./simgrad " + command + " x.toml", scratch.path());
    CHECK(called.exit_code == 5);
    CHECK(called.out.empty());
    CHECK(called.err ==
          "simgrad " + command + ": the program " + scratch.path() +
              "/simgrad-plan, which has this command, is not built yet; to build it, type: cmake --build " +
              scratch.path() + "\n");
  }
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

}  // namespace plan_program_test

// --race, and the table of runs under way.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "catch.h"
#include "cli/scenario.h"

namespace race_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// A slow strategy beside a fast one.
const std::string unequal = small + "[[strategy]]\nkind = \"parameter_server\"\n[[strategy]]\nkind = \"gossip\"\n";

/// The output of a command on a terminal.
std::string on_a_terminal(const Scratch& scratch, const std::vector<std::string>& words) {
  winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    if (chdir(scratch.path().c_str()) != 0) _exit(127);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  std::string output;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(terminal, buffer.data(), buffer.size())) > 0;)
    output.append(buffer.data(), static_cast<std::size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  CHECK(WEXITSTATUS(status) == 0);
  return output;
}

}  // namespace

TEST_CASE("race: a strategy that is slower with every seed stops after three, whatever --jobs, and the table says so") {
  const Scratch scratch;
  scratch.write("x.toml", unequal);
  const std::string run = "run x.toml --no-why --no-baseline --race --seeds 1..6 ";
  const Called one = program(run + "--jobs 1 --out one", scratch);
  REQUIRE(one.exit_code == 0);
  REQUIRE(program(run + "--jobs 2 --out two", scratch).exit_code == 0);
  const Json results = results_in(scratch, "one"), others = results_in(scratch, "two");
  CHECK(results["complete"] == true);
  CHECK(results["dropped"] == others["dropped"]);
  REQUIRE(results["dropped"].size() == 2);
  CHECK(results["runs"].size() == 6 + 3 + 3);
  CHECK(results["runs"].size() == others["runs"].size());
  const std::string best = results["dropped"][0]["behind"];
  for (const Json& dropped : results["dropped"]) {
    CHECK(dropped["label"] != best);
    CHECK((dropped["seeds"] == 3 && dropped["seeds_left_out"] == 3));
    CHECK(dropped["difference_low"].get<double>() > 0.0);
  }
  CHECK(contains(one.out, "(3 of 6 seeds, behind " + best + ")"));
  // Runs that an earlier command has left do not come back, and nothing is done again.
  REQUIRE(program("run x.toml --no-why --no-baseline --seeds 1..6 --out one", scratch).exit_code == 0);
  CHECK(results_in(scratch, "one")["runs"].size() == 18);
  REQUIRE(program(run + "--out one", scratch).exit_code == 0);
  CHECK(results_in(scratch, "one")["dropped"] == results["dropped"]);
  CHECK(results_in(scratch, "one")["runs"].size() == 12);
}

TEST_CASE("race: a run that waits for the numbers of a longer one goes on if that one is dropped") {
  const Scratch scratch;
  // A server is the slower way where messages are long, and the faster one where they take long to arrive.
  scratch.write("x.toml",
                with(small, "features = 5", "features = 500") +
                    "label = \"allreduce\"\nalgorithm = \"ring\"\n[[strategy]]\nkind = \"parameter_server\"\n");
  const Called called = program(
      "run x.toml --no-why --no-baseline --race --seeds 1..4 --jobs 1 "
      "--grid 'zip(stop.steps=10,3; cluster.bandwidth=1Mbps,10Gbps; cluster.latency=1us,10ms)'",
      scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  const Json results = results_in(scratch);
  REQUIRE(results["dropped"].size() == 2);
  CHECK(results["dropped"][0]["behind"] == "allreduce");
  CHECK(results["dropped"][1]["behind"] == "parameter_server");
  CHECK(results["runs"].size() == 14);
}

TEST_CASE("race: a later command does no runs of strategies that an earlier one has dropped") {
  const Scratch scratch;
  scratch.write("x.toml", unequal);
  const std::string run = "run x.toml --no-why --no-baseline --race --seeds 1..6";
  const auto records = [&] {
    const fs::directory_iterator all(scratch.path() + "/out/x/runs");
    return std::distance(begin(all), end(all));
  };
  REQUIRE(program(run, scratch).exit_code == 0);
  const auto first = records();
  REQUIRE(program(run, scratch).exit_code == 0);
  CHECK(first < 18);
  CHECK(records() == first);
}

TEST_CASE("race: a shard, which has a part of the runs, is refused, also where the environment names it") {
  const Scratch scratch;
  scratch.write("x.toml", unequal);
  const Called called = call("SIMGRAD_SHARD=1/2 timeout 60 simgrad run x.toml --race --seeds 1..6", scratch.path());
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "--race: shard 1/2 has a part of the runs alone"));
}

TEST_CASE("race: three seeds are too few") {
  const Scratch scratch;
  scratch.write("x.toml", unequal);
  const Called called = program("run x.toml --race --seeds 1..3", scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.err.starts_with("--race drops a strategy after 3 seeds at the earliest, but there are 3; give more"));
}

TEST_CASE("on a terminal a table shows the runs under way, and is erased in the end") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "steps = 10", "steps = 40000"));
  const std::string shown = on_a_terminal(scratch, {SIMGRAD_PROGRAM, "run", "x.toml", "--no-why", "--jobs", "2",
                                                    "--own-numbers", "--grid", "cluster.latency=50us,60us"});
  CHECK(contains(shown, " of 3 runs done"));
  CHECK(contains(shown, "  allreduce, latency=50us, seed 1  ["));
  // Each table is erased before the next one, and before the results.
  const auto last = shown.rfind("\x1b[J");
  REQUIRE(last != std::string::npos);
  CHECK_FALSE(contains(shown.substr(last), "runs done"));
  CHECK(contains(shown.substr(last), "Results: "));
}

}  // namespace race_test

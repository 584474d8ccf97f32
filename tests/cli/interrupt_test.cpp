// Ctrl-C, SIGTERM and SIGKILL while runs go on.
#include <chrono>
#include <thread>

#include "catch.h"
#include "cli/process.h"
#include "cli/scenario.h"
#include "run_files.h"

namespace interrupt_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// Three runs that end at once, and two that never do.
const std::vector<std::string> endless = {"run",    "x.toml", "--no-baseline", "--own-numbers",
                                          "--jobs", "2",      "--grid",        "stop.steps=1,2,3,900000000,1000000000"};

std::size_t records(const Scratch& scratch) {
  std::size_t count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(scratch.path() + "/out/x/runs", ignored))
    count += entry.path().extension() == ".json" ? 1 : 0;
  return count;
}

/// Waits until the two that never end are both at work, so that the three have ended; returns their processes.
std::vector<pid_t> until_two_go_on(const Process& process, const Scratch& scratch) {
  REQUIRE(soon([&] {
    const auto children = process.children();
    // The short runs take a few milliseconds each.
    return children.size() == 2 && std::ranges::all_of(children, [](pid_t child) { return cpu_s(child) > 0.2; });
  }));
  CHECK(records(scratch) == 3);
  return process.children();
}

void check_gone(const std::vector<pid_t>& processes) {
  for (const pid_t child : processes) CHECK(soon([&] { return !lives(child); }));
}

/// After the signal, sent so many times.
void check_interrupted_by(void (Process::*send)(int) const, int signal, int times = 1) {
  const Scratch scratch;
  scratch.write("x.toml", small);
  Process process(endless, scratch);
  const auto children = until_two_go_on(process, scratch);
  for (int i = 0; i < times; ++i) {
    (process.*send)(signal);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // two signals that wait to be taken are one
  }
  CHECK(process.wait() == 130);
  check_gone(children);
  const Json results = results_in(scratch);
  CHECK(results["complete"] == false);
  CHECK(each(results, "steps") == std::vector<Json>{1, 2, 3});
  CHECK(each(results, "status") == std::vector<Json>{"stopped", "stopped", "stopped"});
  CHECK(records(scratch) == 3);
  for (const Json& id : each(results, "id"))
    CHECK(fs::exists(file_of_run(scratch.path() + "/out/x/runs", id, ".json")));
  CHECK(contains(contents(scratch.path() + "/err"), "interrupted; the finished runs are in out/x"));
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path() + "/out"))
    CHECK(entry.path().extension() != ".tmp");
}

}  // namespace

TEST_CASE("an interrupt before the first run has ended says that there are no results") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  Process process({"run", "x.toml", "--no-baseline", "--set", "stop.steps=900000000"}, scratch);
  REQUIRE(soon([&] {
    const auto children = process.children();
    return children.size() == 1 && cpu_s(children.front()) > 0.1;
  }));
  process.send(SIGINT);
  CHECK(process.wait() == 130);
  CHECK(contains(contents(scratch.path() + "/err"), "interrupted before a run was finished; no results are written"));
  CHECK_FALSE(contains(contents(scratch.path() + "/err"), "Results: "));
  CHECK_FALSE(fs::exists(scratch.path() + "/out/x/results.json"));
}

TEST_CASE("an interrupt before another run has ended says what is kept of earlier commands") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --grid stop.steps=1,2 --no-why", scratch).exit_code == 0);
  const std::size_t kept = records(scratch);
  Process process({"run", "x.toml", "--no-baseline", "--grid", "stop.steps=900000000"}, scratch);
  REQUIRE(soon([&] {
    const auto children = process.children();
    return children.size() == 1 && cpu_s(children.front()) > 0.1;
  }));
  process.send(SIGINT);
  CHECK(process.wait() == 130);
  CHECK(contains(contents(scratch.path() + "/err"),
                 "interrupted before another run was finished; those that are finished, such as baselines, are kept in "
                 "out/x/runs, and the same command goes on from there"));
  CHECK(records(scratch) == kept);
}

TEST_CASE("an interrupt of check leaves a JUnit file that names the scenarios that were not checked") {
  const Scratch scratch;
  for (const char* name : {"x.toml", "y.toml"}) scratch.write(name, small);
  Process process({"check", "x.toml", "y.toml", "--junit", "found.xml", "--set", "stop.steps=900000000"}, scratch);
  REQUIRE(soon([&] {
    const auto children = process.children();
    return !children.empty() && cpu_s(children.front()) > 0.1;
  }));
  process.send(SIGINT);
  CHECK(process.wait() == 130);
  const std::string xml = contents(scratch.path() + "/found.xml");
  CHECK(contains(xml, "<testsuites tests=\"2\" failures=\"0\" errors=\"2\" skipped=\"0\">"));
  CHECK(contains(xml, "<error message=\"interrupted before it was checked\"/>"));
}

TEST_CASE("Ctrl-C ends with 130, leaves finished runs in place, and ends the others") {
  check_interrupted_by(&Process::send_group, SIGINT);
}

TEST_CASE("an interrupt of the parent alone does the same") { check_interrupted_by(&Process::send, SIGINT); }

TEST_CASE("SIGTERM, to all processes too, does the same, and no run is called failed for it") {
  check_interrupted_by(&Process::send_group, SIGTERM);
}

TEST_CASE("SIGTERM twice, as timeout(1) sends it, does the same") { check_interrupted_by(&Process::send, SIGTERM, 2); }

TEST_CASE("a signal that reaches the children of a group before their parent ends none of them") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  Process process(endless, scratch);
  const auto children = until_two_go_on(process, scratch);
  for (const int signal : {SIGINT, SIGTERM})
    for (const pid_t child : children) kill(child, signal);
  // Were one of them to end, the parent would record it as failed.
  CHECK_FALSE(soon([&] { return records(scratch) > 3; }, std::chrono::milliseconds(100)));
  CHECK(process.children() == children);
}

TEST_CASE("an interrupt before anything is finished leaves the results of an earlier call as they are") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --no-baseline --quiet", scratch).exit_code == 0);
  const std::string earlier = contents(scratch.path() + "/out/x/results.json");
  Process process({"run", "x.toml", "--no-baseline", "--force", "--set", "stop.steps=1000000000"}, scratch);
  REQUIRE(soon([&] { return process.children().size() == 1; }));
  process.send(SIGINT);
  CHECK(process.wait() == 130);
  CHECK(contents(scratch.path() + "/out/x/results.json") == earlier);
}

TEST_CASE("when the parent is killed its children die") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  Process process(endless, scratch);
  const auto children = until_two_go_on(process, scratch);
  process.send(SIGKILL);
  CHECK(process.wait() == 128 + SIGKILL);
  check_gone(children);
  CHECK(records(scratch) == 3);
  CHECK_FALSE(fs::exists(scratch.path() + "/out/x/results.json"));
}

TEST_CASE("a run whose process is killed is a failed run, and the others go on") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  Process process({"run", "x.toml", "--no-baseline", "--jobs", "1", "--grid", "stop.steps=1000000000,2"}, scratch);
  REQUIRE(soon([&] { return process.children().size() == 1; }));
  kill(process.children().front(), SIGKILL);
  CHECK(process.wait() == 4);
  const Json results = results_in(scratch);
  CHECK(results["complete"] == true);
  CHECK(each(results, "status") == std::vector<Json>{"failed", "stopped"});
  CHECK(results["runs"][0]["error"] == "the simulating process died of signal 9 (Killed)");
}

}  // namespace interrupt_test

// Refusals of stragglers, jitter and other traffic, with their positions.
#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace weather_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// The faults of `small` with those lines in its [cluster].
std::string faults_of(const std::string& cluster, const tests::Scratch& scratch = {}) {
  std::string text = small + ring_allreduce;
  text.insert(text.find("[data]"), cluster + "\n");
  try {
    make_plan(scratch.write("x.toml", text), {});
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

void check_refused(const std::string& cluster, const std::string& why) {
  const std::string text = faults_of(cluster);
  CAPTURE(cluster, text);
  CHECK(text.find(why) != std::string::npos);
  CHECK(text.find("x.toml:4:") != std::string::npos);
}

}  // namespace

TEST_CASE("impossible stragglers are refused with their place") {
  check_refused("stragglers = { kind = \"bimodal\", probability = 1.5 }", "probability must be from 0 to 1, found 1.5");
  check_refused("stragglers = { kind = \"pareto\", shape = -1 }", "shape");
  check_refused("stragglers = { kind = \"constant\", ranks = [4] }", "ranks holds 4, but the workers are ranks 0 to 3");
  check_refused("stragglers = { kind = \"constant\", ranks = [0.5] }", "0.5 is no rank");
  check_refused("stragglers = { kind = \"shifted_exponential\", mean = 0.1 }", "needs a unit");
  check_refused("stragglers = { kind = \"periodic\", duty = 1, factor = 0 }", "hosts that never compute");
  check_refused("stragglers = \"trace\"", "give file");
  check_refused("stragglers = \"lognormal\"", "did you mean \"log_normal\"?");
}

TEST_CASE("impossible jitter and other traffic are refused with their place") {
  check_refused("jitter = { kind = \"log_normal\", latency = 0 }", "vary nothing");
  check_refused("jitter = { kind = \"log_normal\", latency = -1 }", "latency must be");
  check_refused("jitter = \"exponential\"\nlatency = \"0s\"", "multiples of latency = \"0s\" are all the same");
  check_refused("jitter = \"exponential\"\nnetwork_model = \"tcp\"", "network_model = \"ideal\"");
  check_refused("background = [{ from = 2, to = 2 }]", "are one host");
  check_refused("background = [{ off = \"1s\" }]", "\"off\" is the pause after \"on\" seconds");
  check_refused("background = [{ rate = \"0Gbps\" }]", "rate");
  check_refused("link_bins = 51", "link_bins must be from 0 to 50");
}

TEST_CASE("work and messages that slow each other down are refused where that is not simulated") {
  const std::string some = "overlap_slowdown = 0.2\n";
  check_refused(some + "network_model = \"tcp\"", "overlap_slowdown is simulated where network_model = \"ideal\"");
  check_refused(some + "jitter = { kind = \"log_normal\", latency = 0.1 }", "overlap_slowdown is simulated where");
  check_refused(some + "stragglers = \"markov\"", "overlap_slowdown changes a host's speed with its messages");
  check_refused("overlap_slowdown = 1.0", "overlap_slowdown = 1 leaves no speed while a message is under way");
  check_refused("overlap_slowdown = -0.1", "overlap_slowdown must be from 0 to 1");
}

TEST_CASE("options of ethernet that nothing would read are refused with their place") {
  check_refused("window = \"1MiB\"", "\"window\" belongs to network_model = \"ethernet\"");
  check_refused("frame = \"jumbo\"\nnetwork_model = \"tcp\"", "\"frame\" belongs to network_model = \"ethernet\"");
  check_refused("processor_time = \"1ns\"", "\"processor_time\" belongs to network_model = \"ethernet\"");
  check_refused("initial_window = 4", "\"initial_window\" belongs to network_model = \"ethernet\"");
  check_refused("idle_time = \"1s\"", "\"idle_time\" belongs to network_model = \"ethernet\"");
  check_refused("initial_window = -1\nnetwork_model = \"ethernet\"", "initial_window must be");
  check_refused("idle_time = \"-1s\"\nnetwork_model = \"ethernet\"", "idle_time must be");
  check_refused("processor_time = \"-1ns\"\nnetwork_model = \"ethernet\"", "processor_time must be");
  check_refused("window = \"0B\"\nnetwork_model = \"ethernet\"", "window must be above 0");
  check_refused("frame = \"giant\"\nnetwork_model = \"ethernet\"", "standard, jumbo");
  check_refused("network_model = \"ethernet\"\n[cluster.failures]\nlinks = { kind = \"exponential\", mean = \"1s\" }",
                "links that fail");
  const std::string text = faults_of("network_model = \"ethernet\"\nwindow = \"1MiB\"\nlatency = \"0s\"");
  CAPTURE(text);
  CHECK(text.find("a window limits a flow to window / round-trip time, but latency = \"0s\"") != std::string::npos);
  CHECK(text.find("x.toml:") != std::string::npos);
  // The resolved scenario gives the window of the default.
  CHECK(faults_of("network_model = \"ethernet\"\nwindow = \"4MiB\"\nlatency = \"0s\"") == "accepted");
  CHECK(faults_of("network_model = \"ethernet\"\nwindow = \"64KiB\"\nframe = \"jumbo\"") == "accepted");
}

TEST_CASE("a trace with decreasing dates is refused with its file and line") {
  const tests::Scratch scratch;
  scratch.write("speeds.csv", "date,factor,rank\n0,1,0\n5,0.5,0\n4,1,0\n");
  const std::string text = faults_of("stragglers = { kind = \"trace\", file = \"speeds.csv\" }", scratch);
  CHECK(text.find("speeds.csv:4: date 4 after date 5") != std::string::npos);
}

TEST_CASE("a run is the same wherever its trace lies, and another when the trace's contents differ") {
  const auto id = [](const char* name, const char* contents) {
    const tests::Scratch scratch;
    scratch.write(name, contents);
    std::string text = small + ring_allreduce;
    text.insert(text.find("[data]"), "stragglers = { kind = \"trace\", file = \"" + std::string(name) + "\" }\n");
    return make_plan(scratch.write("x.toml", text), {}).runs.front().id;
  };
  CHECK(id("one", "0 1\n") == id("two", "0 1\n"));
  CHECK(id("one", "0 1\n") != id("one", "0 0.5\n"));
}

TEST_CASE("a worker that is alone is its baseline only while nothing slows it down") {
  const auto work = [](const std::string& cluster) {
    std::string text = small + single;
    text.insert(text.find("[data]"), cluster + "\n");
    const Plan plan = planned(text);
    return plan.runs.front().work == plan.baselines.front().work;
  };
  CHECK(work(""));
  CHECK(!work("stragglers = \"log_normal\""));
}

}  // namespace weather_refusals_test

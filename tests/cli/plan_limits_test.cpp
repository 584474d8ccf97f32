// The time that a plan may take, the keys of its space, and the files that it leaves for `run` and `report`.
#include "catch.h"
#include "cli/scenario.h"

namespace plan_limits_test {

using namespace simgrad::tests;

namespace {

/// Six ways to train on 1000 samples, in steps of 64: 16 of them.
const std::string six = R"(title = "six"
seed = 1

[cluster]
workers = 4
speed = "1GF"
bandwidth = "1Gbps"
latency = "50us"

[data]
samples = 320
features = 5

[model]
kind = "least_squares"

[training]
batch_size = 64
numbers = false

[stop]
steps = 1

[plan]
objective = "fastest"
samples = 1000

[plan.space]
"cluster.workers" = [2, 4, 8]

[[strategy]]
kind = "allreduce"
[[strategy]]
kind = "zero"
)";

}  // namespace

TEST_CASE("A plan whose time is up reads no further point, and says how many it has not read") {
  const Scratch scratch;
  scratch.write("x.toml", six);
  const Called called = program("plan x.toml --json --seconds 1us", scratch);
  CAPTURE(called.err);
  REQUIRE(called.exit_code == 0);
  const Json plan = Json::parse(called.out);
  CHECK(plan["candidates"].size() == 2);  // of the first point
  CHECK(plan["unread"] == 4);
  CHECK(plan["space"] == 6);
  CHECK(plan["decided"] == false);
  CHECK(plan["tally"]["open"] == 2);
  CHECK(contains(plan["texts"]["decided"], "0 of 2 candidates are decided"));
  CHECK(contains(plan["texts"]["decided"], "4 more were not read in that time."));
  const Called whole = program("plan x.toml --json", scratch);
  CHECK(Json::parse(whole.out)["unread"] == 0);
  CHECK(Json::parse(whole.out)["decided"] == true);
}

TEST_CASE("The time of the scenario's [plan] is that of the reading, too") {
  const Scratch scratch;
  scratch.write("x.toml", with(six, "samples = 1000", "samples = 1000\nseconds = \"1us\""));
  const Called called = program("plan x.toml --json", scratch);
  REQUIRE(called.exit_code == 0);
  CHECK(Json::parse(called.out)["unread"] == 4);
}

TEST_CASE("A plan whose time is up before any candidate that can be run is refused, with the reasons so far") {
  const Scratch scratch;
  scratch.write("x.toml", with(six, "samples = 1000", "samples = 1000\nhosts = [{ class = \"host\", most = 1 }]"));
  const Called called = program("plan x.toml --seconds 1us", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "the time was up when 2 of 6 candidates were read, and none of these can be run"));
}

TEST_CASE("Unknown keys of the space are faults at their place, for every command") {
  const std::string unknown = with(six, "\"cluster.workers\" = [2, 4, 8]",
                                   "\"cluster.workerz\" = [2, 4]\n\"cluster.topology.devices\" = [2, 4]\n"
                                   "\"cluster.topology.kind\" = [\"star\", \"pod\"]");
  for (const char* const command : {"plan", "run", "validate"}) {
    const Scratch scratch;
    scratch.write("x.toml", unknown);
    const Called called = program(std::string(command) + " x.toml", scratch);
    CAPTURE(command, called.err);
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, "x.toml:29:22: unknown key \"workerz\" in [cluster]; did you mean \"workers\"?"));
    CHECK_FALSE(contains(called.err, "devices"));  // a pod has them
  }
}

TEST_CASE("The winner's scenario trains on the amount that was asked for, in whole steps") {
  const Scratch scratch;
  scratch.write("x.toml", six);
  const Called planned = program("plan x.toml --json", scratch);
  REQUIRE(planned.exit_code == 0);
  const Called run = program("run out/x/winner.toml --json --no-baseline --no-why --out out/winner", scratch);
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  const Json result = Json::parse(run.out)["runs"][0];
  CHECK(result["samples"] == 1024);  // 1000 in steps of 64
  CHECK(result["simulated_s"].get<double>() ==
        Approx(Json::parse(planned.out)["winner"]["time_s"].get<double>()).epsilon(1e-9));
}

TEST_CASE("A plan is not shown with the results of a later run in its directory") {
  const Scratch scratch;
  scratch.write("x.toml", six);
  REQUIRE(program("plan x.toml --quiet", scratch).exit_code == 0);
  const auto shows_plan = [&] {
    REQUIRE(program("report out/x", scratch).exit_code == 0);
    return contains(contents(scratch.path() + "/out/x/report.html"), "goal and hosts of a plan") ||
           contains(contents(scratch.path() + "/out/x/report.html"), "\"plan\":{");
  };
  CHECK(shows_plan());
  REQUIRE(program("run x.toml --force --quiet --out out/x", scratch).exit_code == 0);
  CHECK_FALSE(shows_plan());
}

TEST_CASE("A label that is a formula is guarded in the table of candidates") {
  const Scratch scratch;
  scratch.write("x.toml", with(six, "kind = \"zero\"", "kind = \"zero\"\nlabel = \"=1+1\""));
  REQUIRE(program("plan x.toml --quiet --no-confirm", scratch).exit_code == 0);
  CHECK(contains(contents(scratch.path() + "/out/x/candidates.csv"), ",'=1+1,"));
}

}  // namespace plan_limits_test

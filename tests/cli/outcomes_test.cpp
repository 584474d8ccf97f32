// The outcomes of runs: a result, even if a run diverges or misses its target; a failure of some runs or of all.
#include "catch.h"
#include "cli/scenario.h"

namespace outcomes_test {

using namespace simgrad::tests;

namespace {

/// A learning rate at which the run diverges: far above 2 / the largest eigenvalue.
const std::string diverging =
    with(with(small, "learning_rate = 0.1", "learning_rate = 1e6"), "steps = 10", "steps = 1000");

}  // namespace

TEST_CASE("a run that diverges is a result: exit 0, the status, the step, an early end") {
  const Scratch scratch;
  scratch.write("x.toml", diverging);
  const Called called = program("run x.toml", scratch);
  CHECK(called.exit_code == 0);
  CHECK(contains(called.out, "diverged"));
  const Json results = results_in(scratch);
  const Json& run = results["runs"][0];
  CHECK(run["status"] == "diverged");
  REQUIRE_FALSE(results["baselines"].empty());
  for (const char* none : {"speedup_throughput", "speedup_time_to_target", "efficiency"}) CHECK(run[none].is_null());
  const double first = run["curve"][0]["loss"];
  CHECK(run["final_loss"].get<double>() > 1e12 * first);
  CHECK(run["error"].is_null());
  const Json& last = run["curve"].back();
  CHECK(contains(run["notes"].dump(), "diverged at step " + run["diverged_step"].dump() + ": "));
  CHECK(run["diverged_step"] <= last["step"]);
  CHECK(run["steps"] == last["step"]);
  CHECK(run["steps"].get<int>() < 1000);
}

TEST_CASE("a target that is not reached is a result: exit 0, stopped, no time to target") {
  const Json results = results_of(with(small, "steps = 10", "loss = 0.001\nsteps = 10"));
  const Json& run = results["runs"][0];
  CHECK(run["status"] == "stopped");
  CHECK(run["time_to_target_s"].is_null());
  CHECK(run["speedup_time_to_target"].is_null());
  CHECK(run["final_loss"].get<double>() > 0.001);
}

TEST_CASE("a target that is reached ends the run at the first evaluation at or below it") {
  const Json results = results_of(with(small, "steps = 10", "loss = 0.2\nsteps = 1000"));
  const Json& run = results["runs"][0];
  CHECK(run["status"] == "reached");
  const Json& curve = run["curve"];
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) CHECK(curve[i]["loss"].get<double>() > 0.2);
  CHECK(curve.back()["loss"].get<double>() <= 0.2);
  CHECK(run["time_to_target_s"] == curve.back()["simulated_s"]);
  CHECK(run["final_loss"] == curve.back()["loss"]);
}

TEST_CASE("when every run fails the exit code is 1, and the results say why") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml --set cluster.watchdog.simulated=1ns", scratch);
  CHECK(called.exit_code == 1);
  const Json results = results_in(scratch);
  const Json& run = results["runs"][0];
  CHECK(results["complete"] == true);
  CHECK(run["status"] == "failed");
  CHECK(contains(run["error"].get<std::string>(), "watchdog"));
  CHECK(run["speedup_throughput"].is_null());
  CHECK(contains(called.out, "watchdog"));
}

TEST_CASE("when some runs fail the exit code is 4, and the others stand") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml --json --grid cluster.watchdog.simulated=1ns,100s", scratch);
  CHECK(called.exit_code == 4);
  CHECK(each(Json::parse(called.out), "status") == std::vector<Json>{"failed", "stopped"});
  CHECK(contains(called.err, "allreduce: "));
}

TEST_CASE("a baseline that fails is a failure too") {
  const Scratch scratch;
  // The baseline's single step takes longer than the sixteenth of it that each of sixteen workers does.
  const std::string text =
      with(with(with(small, "workers = 4", "workers = 16"), "latency = \"50us\"", "latency = \"0s\""),
           "bandwidth = \"1Gbps\"", "bandwidth = \"1000Gbps\"");
  // 200 rows x 4 flops x 5 features / 1 GF = 4 us a step of one worker, and 0.25 us of sixteen.
  scratch.write("x.toml", with(with(text, "steps = 10", "steps = 1"), "[model]",
                               "[cluster.watchdog]\nsimulated = \"2us\"\n[model]"));
  const Called called = program("run x.toml --quiet", scratch);
  const Json results = results_in(scratch);
  REQUIRE(results["baselines"][0]["status"] == "failed");
  REQUIRE(results["runs"][0]["status"] == "stopped");
  CHECK(called.exit_code == 4);
  CHECK(contains(called.err, "baseline: "));
  CHECK(results["runs"][0]["speedup_throughput"].is_null());
}

TEST_CASE("a run cannot print a backtrace: an error of the simulation is a record") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml --quiet --set cluster.watchdog.simulated=1ns", scratch);
  for (const char* noise : {"terminate", "backtrace", "Aborted", "what():", "->"})
    CHECK_FALSE(contains(called.err, noise));
}

}  // namespace outcomes_test

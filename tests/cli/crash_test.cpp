#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "cli/program.h"

namespace crash_test {

using namespace simgrad;
using nlohmann::json;

namespace {

constexpr const char* four_workers = R"(
[cluster]
workers = 4
speed   = "1GF"
[cluster.failures]
detection = "1ms"
[data]
source   = "house_prices"
samples  = 2000
features = 20
[model]
kind = "least_squares"
[stop]
steps = 50
[[strategy]]
kind = "mapreduce"
[[strategy]]
kind = "parameter_server"
[[strategy]]
kind = "allreduce"
[[strategy]]
kind = "gossip"
)";

/// Rank 1 is down from 2 ms to 7 ms.
constexpr const char* crash = R"(--set 'cluster.failures.crash=[{rank=1,at="2ms",repair="5ms"}]')";

tests::Called run(const tests::Scratch& scratch, const std::string& options) {
  scratch.write("a.toml", four_workers);
  return tests::call("simgrad run a.toml --no-baseline --force --json " + options, scratch.path());
}

}  // namespace

TEST_CASE("a crash in the last moments of a run, which nobody notices before the end, has cost nothing") {
  const tests::Scratch scratch;
  scratch.write("x.toml", R"(
seed = 3
[cluster]
workers = 4
speed = "1MF"
bandwidth = "1Mbps"
latency = "500us"
[cluster.failures]
detection = "1ms"
[data]
source = "house_prices"
samples = 64
features = 6
[model]
kind = "least_squares"
[training]
batch_size = 16
learning_rate = 0.05
checkpoint_every_steps = 3
[stop]
steps = 12
[[strategy]]
kind = "mapreduce"
broadcast = "chain"
recovery = "restart"
)");
  const auto run_of = [&](const std::string& options) {
    const auto called = tests::call("simgrad run x.toml --no-baseline --force --json " + options, scratch.path());
    CHECK(called.exit_code == 0);
    return json::parse(called.out)["runs"][0];
  };
  // The first worker has sent the new parameters on, and the last ones of the chain have not got them yet.
  const double end_s = run_of("")["simulated_s"].get<double>();
  const auto with_crash = [&](double before_s) {
    return run_of(
        fmt::format(R"(--set 'cluster.failures.crash=[{{rank=0,at="{:.9f}s",repair="36ms"}}]')", end_s - before_s));
  };
  const auto late = with_crash(0.2e-3);
  CHECK(late["crashes"] == 1);
  CHECK(late["simulated_s"].get<double>() == Approx(end_s).epsilon(1e-12));
  CHECK(late["lost_s"].get<double>() == 0.0);
  CHECK(late["recovery_s"].get<double>() == 0.0);
  CHECK(late["goodput"].get<double>() == 1.0);
  // A crash that is noticed has its price.
  const auto early = with_crash(10e-3);
  CHECK(early["simulated_s"].get<double>() > end_s);
  CHECK(early["lost_s"].get<double>() > 0.0);
  CHECK(early["recovery_s"].get<double>() > 36e-3);
}

TEST_CASE("a goal that is found in the middle of a recovery does not undo what the crash has cost") {
  const tests::Scratch scratch;
  scratch.write("x.toml", R"(
[cluster]
workers = 4
[cluster.failures]
recovery = "wait"
detection = "1us"
crash = [{ rank = 1, at = "2ms", repair = "5ms" }]
[data]
source = "house_prices"
samples = 48
features = 6
[model]
kind = "perceptron"
hidden = [8, 8]
[training]
batch_size = 12
[evaluate]
every_s = "3ms"
[stop]
steps = 200
[[strategy]]
kind = "allreduce"
)");
  const auto run_of = [&](const std::string& options) {
    const auto called = tests::call("simgrad run x.toml --no-baseline --force --json " + options, scratch.path());
    CHECK(called.exit_code == 0);
    return json::parse(called.out)["runs"][0];
  };
  const auto by_goal = run_of("--set stop.loss=0.9"), by_time = run_of("--set stop.time=3ms");
  CHECK(by_goal["status"] == "reached");
  for (const char* member : {"simulated_s", "lost_s", "recovery_s", "goodput"}) {
    CAPTURE(member);
    CHECK(by_goal[member].get<double>() == Approx(by_time[member].get<double>()).epsilon(1e-9));
  }
  CHECK(by_goal["recovery_s"].get<double>() > 0.0);
}

TEST_CASE("a time limit before the detection, before the repair or after it ends a crashed run as any other") {
  const tests::Scratch scratch;
  for (const double limit_ms : {2.5, 4.0, 8.0}) {
    const auto called = run(scratch, fmt::format("{} --set stop.time={}ms", crash, limit_ms));
    CHECK(called.exit_code == 0);
    CHECK(called.err.find("acktrace") == std::string::npos);
    const json results = json::parse(called.out);
    REQUIRE(results["runs"].size() == 4);
    for (const json& each : results["runs"]) {
      CHECK(each["status"] == "stopped");
      CHECK(each["simulated_s"].get<double>() == Approx(limit_ms * 1e-3).epsilon(1e-12));
      const double down = std::min(limit_ms, 7.0) * 1e-3 - 2e-3;
      CHECK(each["ranks"][1]["down_s"].get<double>() == Approx(down).epsilon(1e-9));
    }
  }
}

TEST_CASE("evaluations by the clock go on through a crash") {
  const tests::Scratch scratch;
  const auto called = run(scratch, fmt::format("{} --set evaluate.every_s=0.3ms", crash));
  CHECK(called.exit_code == 0);
  const json results = json::parse(called.out);
  REQUIRE(results["runs"].size() == 4);
  for (const json& each : results["runs"]) CHECK(each["status"] == "stopped");
}

TEST_CASE("the curve has the state to which a recovery goes back") {
  const tests::Scratch scratch;
  const auto called =
      run(scratch, fmt::format("{} --set training.checkpoint_every_steps=2 --set evaluate.every_steps=49 "
                               "--strategy mapreduce",
                               crash));
  std::vector<int> steps;
  const json results = json::parse(called.out);
  for (const json& row : results["runs"][0]["curve"]) steps.push_back(row["step"]);
  // Reading 500 rows of 160 bytes at 200 MB/s takes 400 us. A step takes 40 us of computing, twice 50 us of latency and
  // some 12 us of bytes and sums: at 2 ms 10 are complete, and the last checkpoint is that of step 10.
  CHECK(steps == std::vector<int>{0, 10, 49, 50});
}

TEST_CASE("a run that failed has done nothing good") {
  const tests::Scratch scratch;
  const auto called = run(scratch, fmt::format("{} --strategy allreduce --set cluster.watchdog.simulated=3ms", crash));
  const json results = json::parse(called.out);
  CHECK(results["runs"][0]["status"] == "failed");
  CHECK(results["runs"][0]["crashes"] == 1);
  CHECK(results["runs"][0]["goodput"].is_null());
}

TEST_CASE("an epoch of an asynchronous server is P updates") {
  const tests::Scratch scratch;
  const auto called = run(scratch,
                          "--strategy parameter_server --set strategy.parameter_server.consistency=asp "
                          "--set stop.steps=1000 --set stop.epochs=3");
  const json results = json::parse(called.out);
  CHECK(results["runs"][0]["steps"] == 3 * 4);
  CHECK(results["runs"][0]["samples"] == 3 * 2000);
}

TEST_CASE("two labels of the same work are two runs") {
  const tests::Scratch scratch;
  scratch.write("two.toml", std::string(four_workers) + "[[strategy]]\nkind = \"allreduce\"\nlabel = \"again\"\n");
  const auto called = tests::call("simgrad run two.toml --no-baseline --json", scratch.path());
  const json results = json::parse(called.out);
  REQUIRE(results["runs"].size() == 5);
  CHECK(results["runs"][2]["label"] == "allreduce");
  CHECK(results["runs"][2]["id"] != results["runs"][4]["id"]);
  CHECK(results["runs"][2]["curve"] == results["runs"][4]["curve"]);
}

TEST_CASE("a platform on which hosts cannot compute or reach each other is refused") {
  const tests::Scratch scratch;
  const auto platform = [&](const std::string& speed, const std::string& route) {
    scratch.write("p.xml", fmt::format("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                                       "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\"><zone id=\"z\" "
                                       "routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"{}\"/>"
                                       "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>{}</zone></platform>\n",
                                       speed, route));
    scratch.write("p.toml",
                  "[cluster]\nplatform = \"p.xml\"\nworkers = 2\n[data]\nsource = \"house_prices\"\n[model]\n"
                  "kind = \"least_squares\"\n[stop]\nsteps = 2\n[[strategy]]\nkind = \"allreduce\"\n");
    return tests::call("simgrad validate p.toml", scratch.path());
  };
  const std::string route = "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>";
  CHECK(platform("1Gf", route).exit_code == 0);
  CHECK(platform("1Gf", "").exit_code == 2);
  const auto idle = platform("0f", route);
  CHECK(idle.exit_code == 2);
  CHECK(idle.err.find("\"b\" has a speed of 0 flop/s") != std::string::npos);
}

}  // namespace crash_test

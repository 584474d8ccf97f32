// Plans that compare candidates among failures: one measure for all that are simulated, ties, and two markets.
#include <cmath>

#include "catch.h"
#include "cli/planning.h"

namespace plan_close_test {

using namespace simgrad::tests;

namespace {

constexpr double servers = 4.0;

double number(const Json& tree, const char* key) { return tree.at(key).get<double>(); }

}  // namespace

TEST_CASE("Candidates close to the best are compared by simulated means, and seed by seed") {
  const std::string close =
      with(long_one + fails, "samples = 6_400_000_000\n",
           "samples = 6_400_000_000\n[plan.space]\n\"cluster.latency\" = [\"50us\", \"50.1us\"]\n");
  const Json plan = plan_of(close, "--no-confirm");
  const Json& winner = plan["winner"];
  const double simulated_s = number(winner["time_by_simulation"], "mean_s");
  CHECK(number(winner, "time_s") == Approx(simulated_s).epsilon(1e-9));
  CHECK(number(winner, "cost_usd") == Approx(servers * simulated_s * 1e-3).epsilon(1e-9));
  CHECK(winner["parameters"]["cluster.latency"] == "50us");
  // The other takes longer under every seed, although its mean is within the interval of the best one's.
  CHECK(plan["ties"].empty());
}

TEST_CASE("On demand and spot are compared under a rule of checkpoints, which asks for none where nothing fails") {
  const std::string spot = with(with(with(long_one, "worker = \"3.6$/h\"", "worker = \"0.40$/h\"\nspot = \"0.13$/h\""),
                                     "latency = \"50us\"\n", "latency = \"50us\"\nstorage_bandwidth = \"1MBps\"\n"),
                                "numbers = false\n", "numbers = false\ncheckpoint_every = \"daly\"\n") +
                           "[cluster.failures]\nspot = { interruption = \"4h\", replacement = \"2min\" }\n";
  const std::string both = spot + "[plan.space]\n\"cluster.failures.market\" = [\"on_demand\", \"spot\"]\n";
  const Json plan = plan_of(both, "--no-confirm");
  CHECK(plan["winner"]["parameters"]["cluster.failures.market"] == "spot");
  REQUIRE(plan["candidates"].size() == 2);
  const Json &on_demand = plan["candidates"][0], &on_spot = plan["candidates"][1];
  CHECK(on_demand["goodput"] == 1.0);
  CHECK(on_demand["checkpoint_interval_s"].is_null());
  CHECK(number(on_spot, "checkpoint_interval_s") > 0.0);
  const double work_s = number(plan_of(long_one)["winner"], "time_s");
  CHECK(number(on_demand["expected"], "time_s") == Approx(work_s).epsilon(1e-9));
  // Without a market that is named, a rule without failures is still a mistake.
  const Scratch scratch;
  scratch.write("x.toml", with(long_one, "numbers = false\n", "numbers = false\ncheckpoint_every = \"daly\"\n"));
  CHECK(contains(program("plan x.toml", scratch).err, "needs the hosts' MTBF"));
}

TEST_CASE("An assumption that changes the winner is told by factors that the break-even lies between") {
  const Json plan =
      plan_of(contents(SIMGRAD_SOURCE_DIR "/scenarios/lessons/17_what_shall_we_rent.toml"), "--no-confirm");
  // 32 slow machines compute for 2560 s / 32 and communicate for 53.2 s, and the deadline is 150 s.
  const double break_even = (150.0 - 53.2) * 32.0 / 2560.0;
  const Json* slower = nullptr;
  for (const Json& turn : plan["turns"]) {
    const double still = number(turn, "still_factor"), changed = number(turn, "factor");
    CHECK(std::abs(std::log(changed / still)) == Approx(std::log(2.0) / 16.0).epsilon(1e-9));
    if (turn["assumption"] == "the speed of all hosts" && changed < 1.0) slower = &turn;
  }
  REQUIRE(slower);
  CHECK(1.0 / number(*slower, "still_factor") < break_even);
  CHECK(1.0 / number(*slower, "factor") > break_even);
  CHECK(contains(plan["texts"]["turns"].dump(), "With the speed of all hosts divided by 1.24, the best is 16 hosts"));
}

}  // namespace plan_close_test

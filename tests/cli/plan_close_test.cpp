// Plans among failures whose candidates are close: one measure for all that are simulated, and ties.
#include "catch.h"
#include "cli/planning.h"

namespace plan_close_test {

using namespace simgrad::tests;

namespace {

constexpr double servers = 4.0;

double number(const Json& tree, const char* key) { return tree.at(key).get<double>(); }

}  // namespace

TEST_CASE("Candidates close to the best are compared by simulated means, and tie where their intervals overlap") {
  const std::string close =
      with(long_one + fails, "samples = 6_400_000_000\n",
           "samples = 6_400_000_000\n[plan.space]\n\"cluster.latency\" = [\"50us\", \"50.1us\"]\n");
  const Json plan = plan_of(close, "--no-confirm");
  const Json& winner = plan["winner"];
  REQUIRE(plan["ties"].size() == 1);
  const Json& tie = plan["ties"][0];
  const auto simulated_s = [](const Json& choice, const char* key) {
    return number(choice["time_by_simulation"], key);
  };
  for (const Json& each : {winner, tie}) {
    CHECK(number(each, "time_s") == Approx(simulated_s(each, "mean_s")).epsilon(1e-9));
    CHECK(number(each, "cost_usd") == Approx(servers * simulated_s(each, "mean_s") * 1e-3).epsilon(1e-9));
  }
  CHECK(simulated_s(winner, "mean_s") < simulated_s(tie, "mean_s"));
  CHECK(simulated_s(tie, "low_s") < simulated_s(winner, "high_s"));
  CHECK(contains(plan["texts"]["tie"], "the 95 % intervals of the simulations do not separate this from"));
  // Twice the latency is clearly worse.
  CHECK(plan_of(with(close, "\"50.1us\"", "\"100us\""), "--no-confirm")["ties"].empty());
}

}  // namespace plan_close_test

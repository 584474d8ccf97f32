// The claims of the scenarios about money and energy.
#include "house/results.h"

namespace prices_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("cheapest_for_a_deadline: money grows with the machines, and the cheapest in time is not the fastest") {
  const auto results = results_of("cheapest_for_a_deadline.toml");
  REQUIRE(results->runs.size() == 6);
  const std::vector<outputs::Run>& runs = results->runs;
  CHECK_FALSE(reached(runs[0]));
  CHECK_FALSE(reached(runs[1]));
  for (std::size_t i = 2; i < 6; ++i) {
    CHECK(reached(runs[i]));
    CHECK(*runs[i].bill.cost_usd > *runs[i - 1].bill.cost_usd);
  }
  // By hand: every machine for as long as it took.
  CHECK(runs[2].bill.cost_to_target_usd.value() == Approx(4 * 0.40 / 3600 * runs[2].record.simulated_s).epsilon(1e-9));
  CHECK(runs[4].record.simulated_s < runs[2].record.simulated_s);
  CHECK(runs[4].record.simulated_s < runs[5].record.simulated_s);
  CHECK(*runs[2].bill.energy_j < *runs[4].bill.energy_j);
}

TEST_CASE("spot_or_on_demand: whether spot pays is decided by the recovery") {
  const auto results = results_of("spot_or_on_demand.toml");
  REQUIRE(results->runs.size() == 6);
  const auto ratio = [&](std::size_t strategy, auto number) {
    return number(results->runs[strategy + 3]) / number(results->runs[strategy]);
  };
  const auto cost = [](const outputs::Run& run) { return run.bill.cost_to_target_usd.value(); };
  const auto time = [](const outputs::Run& run) { return run.record.time_to_target_s.value(); };
  CHECK(ratio(0, cost) > 0.6);
  CHECK(ratio(0, time) > 1.5);
  for (const std::size_t goes_on : {std::size_t{1}, std::size_t{2}}) {
    CHECK(ratio(goes_on, cost) < 0.5);
    CHECK(ratio(goes_on, time) < 1.2);
  }
  // By hand: a spot machine is paid while it is there, the server for all of the time.
  const outputs::Run& asp = results->runs[5];
  double paid_s = 0.0;
  for (const record::HostUse& host : asp.record.hosts)
    if (host.spot) paid_s += asp.record.simulated_s - host.down_s;
  CHECK(asp.bill.cost_usd.value() == Approx((0.13 * paid_s + 0.40 * asp.record.simulated_s) / 3600.0).epsilon(1e-9));
  double down_s = 0.0;
  for (const record::RankUse& rank : results->runs[3].record.ranks) down_s += rank.down_s;
  CHECK(down_s > 0.0);
}

}  // namespace prices_scenarios_test

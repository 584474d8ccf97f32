// The claims of the scenarios about money and energy.
#include "house/results.h"

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

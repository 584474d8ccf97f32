// The claims of the scenarios about failures and checkpoints.
#include <algorithm>

#include "house/results.h"

namespace failures_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("checkpoint_interval: too often and too seldom cost, and Daly's interval is near the best") {
  const auto results = results_of("checkpoint_interval.toml");
  const auto goodput = [&](const char* every) {
    for (const outputs::Run& run : results->runs)
      if (run.parameters["training.checkpoint_every"] == every) return run.record.goodput.value();
    return 0.0;
  };
  double best = 0.0;
  for (const outputs::Run& run : results->runs) best = std::max(best, run.record.goodput.value());
  CHECK(goodput("daly") > best - 0.04);
  CHECK(goodput("young") > best - 0.04);
  CHECK(goodput("15ms") < best - 0.1);
  CHECK(goodput("1s") < best - 0.1);
}

TEST_CASE("more_machines_more_failures: there is a size beyond which machines slow the training down") {
  const auto results = results_of("more_machines_more_failures.toml");
  std::vector<double> times;
  for (const outputs::Run& run : results->runs) times.push_back(run.record.simulated_s);
  const auto best = std::ranges::min_element(times);
  CHECK(best != times.begin());
  CHECK(best < times.end() - 1);
  CHECK(times.back() > 1.1 * *best);
}

}  // namespace failures_scenarios_test

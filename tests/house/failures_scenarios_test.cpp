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

TEST_CASE("spares_or_none: stages suffer more than replicas, a spare is worth its price, and copies save work") {
  // Times are those of the runs with numbers.
  const auto results = results_of("spares_or_none.toml", " --seeds 1..4 --set training.numbers=false");
  const auto mean = [&](const char* recovery, int spares, const auto& number_of) {
    double sum = 0.0, runs = 0.0;
    for (const outputs::Run& run : results->runs) {
      if (run.parameters.at("cluster.failures.recovery") != recovery ||
          run.parameters.at("cluster.failures.spares") != spares)
        continue;
      sum += number_of(run);
      runs += 1.0;
    }
    REQUIRE(runs == 4.0);
    return sum / runs;
  };
  const auto time = [](const outputs::Run& run) { return run.record.simulated_s; };
  const auto dollars = [](const outputs::Run& run) { return run.bill.cost_usd.value(); };
  CHECK(mean("elastic", 0, time) < 1.6 * 5.66);
  CHECK(mean("restart", 0, time) > 2.0 * 8.78);
  CHECK(mean("restart", 1, time) < 0.8 * mean("restart", 0, time));
  CHECK(mean("restart", 1, dollars) < mean("restart", 0, dollars));
  CHECK(mean("wait", 1, time) < mean("restart", 1, time));
}

}  // namespace failures_scenarios_test

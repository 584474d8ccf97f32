// The claims of the scenarios about stragglers, jitter and neighbours.
#include <cmath>

#include "house/results.h"

namespace weather_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("stragglers_and_waiting: who waits takes D + mean H_n a step, asp the mean of one gradient") {
  const auto results = results_of("stragglers_and_waiting.toml");
  for (const int n : {4, 16, 32}) {
    const std::string at = "{\"cluster.workers\":" + std::to_string(n) + "}";
    double H = 0.0;
    for (int k = 1; k <= n; ++k) H += 1.0 / k;
    for (const char* label : {"allreduce", "bsp"}) {
      const record::Record& record = run_of(*results, label, at).record;
      CHECK(record.simulated_s / static_cast<double>(record.steps) == Approx(0.1 + 0.1 * H).epsilon(0.05));
    }
    CHECK(speedup(run_of(*results, "asp", at)) == Approx(n * 0.1 / 0.2).epsilon(0.05));
  }
}

TEST_CASE("backup_workers: one or two are worth more than none, eight waste work") {
  const auto results = results_of("backup_workers.toml");
  const auto rate = [&](const char* label) { return speedup(run_of(*results, label)); };
  CHECK(rate("1 backup") > 1.25 * rate("all 16"));
  CHECK(rate("2 backups") > rate("1 backup"));
  CHECK(rate("8 backups") < rate("2 backups"));
  const record::Record& all = run_of(*results, "all 16").record;
  // Pareto, a = 2.5: the slowest of 16 takes 4.548 times the shortest possible.
  CHECK(all.simulated_s / static_cast<double>(all.steps) == Approx(0.4548).epsilon(0.1));
  // Fresh draws in every step: E[X_(15:16)] = G(17) G(2 - 1/a) / (G(2) G(17 - 1/a)) times the shortest.
  const record::Record& cancelled = run_of(*results, "1 backup, cancelled").record;
  const double kth = std::tgamma(17.0) * std::tgamma(1.6) / std::tgamma(16.6);
  CHECK(cancelled.simulated_s / static_cast<double>(cancelled.steps) == Approx(0.1 * kth).epsilon(0.05));
}

TEST_CASE("two_jobs_one_fabric: both jobs are disturbed, and equally") {
  const auto results = results_of("two_jobs_one_fabric.toml");
  CHECK(results->runs.size() == 2);
  CHECK(run_of(*results, "one").interference.value() > 1.3);
  CHECK(run_of(*results, "one").interference.value() < 2.0);
  CHECK(run_of(*results, "other").interference.value() ==
        Approx(run_of(*results, "one").interference.value()).epsilon(1e-9));
}

TEST_CASE("gang_or_shared: in turns short steps wait for long ones, sharing overlaps them, and both learn the same") {
  const auto results = results_of("gang_or_shared.toml");
  const std::string gang = "{\"cluster.sharing\":\"gang\"}", shared = "{\"cluster.sharing\":\"processor\"}";
  for (const char* job : {"linear", "perceptron"}) {
    CHECK(run_of(*results, job, shared).interference.value() < 1.1);
    CHECK(run_of(*results, job, shared).record.final_loss == run_of(*results, job, gang).record.final_loss);
  }
  CHECK(run_of(*results, "linear", gang).interference.value() > 5.0);
  CHECK(run_of(*results, "perceptron", gang).interference.value() > 1.1);
  CHECK(run_of(*results, "perceptron", gang).interference.value() < 1.2);
  CHECK(run_of(*results, "linear", gang).record.final_loss != run_of(*results, "perceptron", gang).record.final_loss);
}

}  // namespace weather_scenarios_test

// The claims of the scenarios about sparse models.
#include "house/results.h"

namespace sparse_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE(
    "hot_keys: by range one server has nearly all the load, by hash a quarter, and replicas take it off the servers") {
  const auto results = results_of("hot_keys.toml");
  REQUIRE(results->runs.size() == 4);
  const auto record = [&](const char* label) { return run_of(*results, label).record; };
  CHECK(record("by range").server_imbalance.value() > 3.5);
  CHECK(record("by hash").server_imbalance.value() < 1.1);
  CHECK(record("by hash").simulated_s < 0.35 * record("by range").simulated_s);
  CHECK(record("hot on workers").simulated_s < 0.8 * record("by range").simulated_s);
  CHECK(record("hash, hot on workers").simulated_s < record("by hash").simulated_s);
  for (const outputs::Run& run : results->runs)
    CHECK(run.record.final_loss.value() == Approx(record("by range").final_loss.value()).epsilon(1e-9));
}

TEST_CASE("key_cache: some steps of staleness save bytes for nothing, many cost accuracy") {
  const auto results = results_of("key_cache.toml");
  const auto record = [&](const char* label) { return run_of(*results, label).record; };
  CHECK(!record("no cache").cache_hit_rate);
  CHECK(record("1 step").cache_hit_rate.value() > 0.2);
  CHECK(record("16 steps").cache_hit_rate.value() > record("4 steps").cache_hit_rate.value());
  CHECK(record("4 steps").bytes < 8 * record("no cache").bytes / 10);
  CHECK(record("4 steps").simulated_s < 0.95 * record("no cache").simulated_s);
  CHECK(record("4 steps").final_loss.value() < 1.02 * record("no cache").final_loss.value());
  CHECK(record("16 steps").final_loss.value() < 1.01 * record("no cache").final_loss.value());
  CHECK(record("64 steps").final_loss.value() > 1.1 * record("no cache").final_loss.value());
}

TEST_CASE("wide_and_deep: the hybrid is faster than either place for all, and as good") {
  const auto results = results_of("wide_and_deep.toml");
  const auto record = [&](const char* label) { return run_of(*results, label).record; };
  CHECK(record("all on servers").final_loss.value() ==
        Approx(record("all replicated").final_loss.value()).epsilon(1e-9));
  CHECK(record("hybrid").simulated_s < 0.5 * record("all on servers").simulated_s);
  CHECK(record("hybrid").simulated_s < 0.5 * record("all replicated").simulated_s);
  CHECK(record("hybrid").final_loss.value() < 1.01 * record("all replicated").final_loss.value());
}

}  // namespace sparse_scenarios_test

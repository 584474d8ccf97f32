// The claims of the scenarios about parameter servers and their relatives.
#include "house/results.h"

namespace servers_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("servers_widen_the_link: twice the servers, half the time, until the workers' links bind") {
  const auto results = results_of("servers_widen_the_link.toml");
  const auto network_s = [&](const char* label) { return mean_communicate_s(run_of(*results, label)); };
  const double M = 8e5, B = 125e6;
  // Ten steps of two transfers; until s = P the longest takes P M / (s B).
  CHECK(network_s("1 server") == Approx(10 * 2 * (50e-6 + 8 * M / B)).epsilon(0.01));
  CHECK(network_s("2 servers") == Approx(network_s("1 server") / 2).epsilon(0.01));
  CHECK(network_s("4 servers") == Approx(network_s("1 server") / 4).epsilon(0.01));
  CHECK(network_s("8 servers") == Approx(10 * 2 * (50e-6 + M / B)).epsilon(0.01));
  CHECK(network_s("16 servers") == Approx(network_s("8 servers")).epsilon(0.01));
  CHECK(network_s("4 servers, hashed") > network_s("4 servers"));
  CHECK(network_s("8 servers, colocated") < 0.9 * network_s("8 servers"));
  CHECK(run_of(*results, "8 servers, colocated").record.bytes == 10 * 2 * 7 * 800'000);
  CHECK(run_of(*results, "BytePS, 8 spare hosts").record.simulated_s <
        0.7 * run_of(*results, "8 servers").record.simulated_s);
}

TEST_CASE("how_stale: asp is P - 1 updates late on average, ssp half of that, and it waits like bsp") {
  const auto results = results_of("how_stale.toml");
  const auto record = [&](const char* label) -> const record::Record& { return run_of(*results, label).record; };
  CHECK(*record("asp").staleness_mean == Approx(7.0).epsilon(0.02));
  CHECK(*record("asp").staleness_max > 20);
  // Seven others are bound + 1 gradients ahead of the slow worker's first one, or not yet: it takes two to six of their
  // times, phases included.
  CHECK(record("ssp 1").staleness_max == 7.0 * (1 + 1));
  CHECK(*record("ssp 4").staleness_max >= 7.0 * (1 + 1));
  CHECK(*record("ssp 4").staleness_max <= 7.0 * (4 + 1));
  for (const char* label : {"ssp 1", "ssp 4"}) CHECK(*record(label).staleness_mean == Approx(3.5).epsilon(0.03));
  CHECK(*record("asp").ranks[0].staleness_mean > 4 * *record("asp").ranks[1].staleness_mean);
  for (const char* label : {"bsp", "backup", "K-batch-sync"}) CHECK(!record(label).staleness_max);
  for (const char* label : {"ssp 1", "ssp 4"})
    CHECK(record(label).simulated_s == Approx(record("bsp").simulated_s).epsilon(0.03));
  CHECK(record("asp").simulated_s < 0.33 * record("bsp").simulated_s);
  CHECK(record("backup").simulated_s < 0.33 * record("bsp").simulated_s);
  for (const char* label : {"backup", "K-batch-sync", "ssp 1", "ssp 4", "asp"})
    CHECK(*record(label).final_loss < 1.01 * *record("bsp").final_loss);
}

TEST_CASE("delay_compensation: most of the updates lost to staleness are recovered") {
  const auto results = results_of("delay_compensation.toml");
  for (const outputs::Run& run : results->runs) {
    CHECK(reached(run));
    CHECK(*run.record.staleness_mean > 14.0);
  }
  const auto steps = [&](const char* label) { return run_of(*results, label).record.steps; };
  CHECK(2 * steps("lambda 8") < steps("asp"));
  CHECK(10 * steps("lambda 32") < steps("asp"));
  CHECK(steps("staleness-aware") < steps("asp"));
  CHECK(steps("staleness-aware") > steps("lambda 32"));
}

TEST_CASE("cores_of_one_host: eight cores are eight times as fast, and staleness costs them next to nothing") {
  const auto results = results_of("cores_of_one_host.toml");
  const outputs::Run& hogwild = run_of(*results, "hogwild");
  CHECK(hogwild.record.bytes == 0);
  CHECK(*hogwild.record.staleness_mean == Approx(7.0).epsilon(0.1));
  CHECK(hogwild.speedup_throughput > 7.5);
  for (const outputs::Run& run : results->runs) {
    CHECK(reached(run));
    CHECK(hogwild.record.time_to_target_s <= run.record.time_to_target_s);
    if (run.label != "easgd")
      CHECK(static_cast<double>(run.record.samples) < 1.5 * static_cast<double>(hogwild.record.samples));
  }
}

}  // namespace servers_scenarios_test

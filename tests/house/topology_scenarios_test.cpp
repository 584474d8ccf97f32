// The claims of the scenarios about cabling.
#include "house/results.h"

namespace topology_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

/// Returns the time of a point of the grid, by its number.
double simulated_s(const outputs::Results& results, const std::string& label, std::size_t point) {
  for (const outputs::Run& run : results.runs)
    if (run.label == label && point-- == 0) return run.record.simulated_s;
  throw std::runtime_error("no such point of " + label);
}

}  // namespace

TEST_CASE("one_slow_link: any bad cable slows a ring sevenfold, halving and a server only on a worker's NIC") {
  const auto results = results_of("one_slow_link.toml");
  REQUIRE(results->runs.size() == 12);
  for (std::size_t bad = 1; bad < 4; ++bad) {
    const double ring = simulated_s(*results, "ring", bad) / simulated_s(*results, "ring", 0);
    CHECK(ring > 6.0);
    CHECK(ring < 8.0);
    // In each of three steps worker 0 sends 0.8 MB to its neighbour over a twentieth of 10 Gb/s, and gets them back.
    const double longer_s = bad == 1 ? 3 * 2 * (20 - 1) * 0.8e6 / 1.25e9 : 0.0;
    CHECK(simulated_s(*results, "halving", bad) - simulated_s(*results, "halving", 0) == Approx(longer_s).margin(1e-9));
    const double server = simulated_s(*results, "server", bad) / simulated_s(*results, "server", 0);
    if (bad == 1)
      CHECK(server > 1.3);
    else
      CHECK(std::abs(server - 1.0) < 0.02);
  }
  // The slow link is the one that is used most.
  for (const outputs::Run& run : results->runs) {
    if (run.label != "ring" || run.parameters.dump().find("edge-0") == std::string::npos) continue;
    const auto busiest = std::ranges::max_element(run.record.links, {}, &record::LinkUse::utilisation);
    CHECK(busiest->link.starts_with("edge-0"));
    CHECK(busiest->link_class == "edge");
  }
}

TEST_CASE("oversubscribed_racks: a ring stands what the racks have hosts, servers do not, hierarchical is first") {
  const auto results = results_of("oversubscribed_racks.toml");
  REQUIRE(results->runs.size() == 9);
  CHECK(simulated_s(*results, "ring", 1) < 1.01 * simulated_s(*results, "ring", 0));
  CHECK(simulated_s(*results, "ring", 2) > 1.5 * simulated_s(*results, "ring", 0));
  CHECK(simulated_s(*results, "four servers", 1) > 3.0 * simulated_s(*results, "four servers", 0));
  CHECK(simulated_s(*results, "four servers", 2) > 3.5 * simulated_s(*results, "four servers", 1));
  for (std::size_t point = 0; point < 3; ++point)
    CHECK(simulated_s(*results, "hierarchical", point) < simulated_s(*results, "ring", point));
}

TEST_CASE("three_continents: allreduce is slower than one worker, local SGD with rare averages is faster") {
  const auto results = results_of("three_continents.toml");
  for (const outputs::Run& run : results->runs) CHECK(reached(run));
  const double every = simulated_s(*results, "allreduce", 0);
  CHECK(run_of(*results, "allreduce").speedup_time_to_target < 0.1);
  CHECK(simulated_s(*results, "local SGD, H = 4", 0) < every / 3.5);
  CHECK(simulated_s(*results, "local SGD, H = 16", 0) < every / 12);
  CHECK(run_of(*results, "local SGD, H = 16").speedup_time_to_target > 1.0);
}

}  // namespace topology_scenarios_test

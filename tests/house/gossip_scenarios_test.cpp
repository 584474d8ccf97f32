// The claims of the scenarios about gossip.
#include "house/results.h"

namespace gossip_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

double time_s(const outputs::Run& run) { return run.record.time_to_target_s.value(); }
double apart(const outputs::Run& run) { return run.record.curve.back().consensus_distance.value(); }
double loss(const outputs::Run& run) { return run.record.final_loss.value(); }

}  // namespace

TEST_CASE(
    "which_graph: a ring needs four times the steps of an exponential graph, four neighbours or a push win in time") {
  const auto results = results_of("which_graph.toml");
  for (const outputs::Run& run : results->runs) CHECK(reached(run));
  const auto named = [&](const char* label) -> const outputs::Run& { return run_of(*results, label); };
  CHECK(named("ring").record.steps / 3 > named("exponential").record.steps);
  CHECK(named("ring").record.spectral_gap.value() < 0.1 * named("exponential").record.spectral_gap.value());
  CHECK(named("complete").record.steps < named("exponential").record.steps);
  CHECK(named("push to one").record.steps <= named("complete").record.steps + 3);
  for (const char* four : {"torus", "random, degree 4"})
    for (const char* other : {"ring", "exponential", "complete"}) CHECK(time_s(named(four)) < time_s(named(other)));
  CHECK(time_s(named("push to one")) < time_s(named("random, degree 4")));
}

TEST_CASE("gossip_and_latency: the higher the latency, the more gossip gains on an allreduce") {
  const auto results = results_of("gossip_and_latency.toml");
  for (const outputs::Run& run : results->runs) CHECK(reached(run));
  const auto at = [&](const std::string& label, const std::string& latency) {
    return time_s(run_of(*results, label, "{\"cluster.latency\":\"" + latency + "\"}"));
  };
  CHECK(at("gossip", "50us") > 0.85 * at("recursive doubling", "50us"));
  CHECK(at("gossip", "20ms") < at("ring allreduce", "20ms") / 20);
  CHECK(at("gossip", "20ms") < at("recursive doubling", "20ms") / 3);
  CHECK(at("gossip, overlapped", "1ms") < 0.7 * at("gossip", "1ms"));
  for (const char* latency : {"50us", "1ms", "20ms"}) CHECK(at("gossip, overlapped", latency) < at("gossip", latency));
}

TEST_CASE("labels_and_tracking: D-PSGD settles beside the optimum, gradient tracking and D2 find it and agree") {
  const auto results = results_of("labels_and_tracking.toml");
  const double best = loss(run_of(*results, "allreduce"));
  CHECK(loss(run_of(*results, "D-PSGD")) > 1.01 * best);
  CHECK(apart(run_of(*results, "D-PSGD")) > 0.1);
  for (const char* label : {"gradient tracking", "D2"}) {
    CHECK(loss(run_of(*results, label)) == Approx(best).epsilon(1e-6));
    CHECK(apart(run_of(*results, label)) < 1e-5);
  }
  CHECK(run_of(*results, "gradient tracking").record.bytes == 2 * run_of(*results, "D-PSGD").record.bytes);
  CHECK(run_of(*results, "D2").record.bytes == run_of(*results, "D-PSGD").record.bytes);
}

TEST_CASE("slow_worker_and_gossip: a slow worker stalls D-PSGD and not AD-PSGD") {
  const auto results = results_of("slow_worker_and_gossip.toml");
  for (const outputs::Run& run : results->runs) CHECK(reached(run));
  const double stalled = time_s(run_of(*results, "D-PSGD"));
  CHECK(time_s(run_of(*results, "push to one")) > 0.95 * stalled);
  CHECK(time_s(run_of(*results, "AD-PSGD")) < stalled / 8);
  CHECK(time_s(run_of(*results, "broadcast")) < stalled / 8);
  CHECK(run_of(*results, "broadcast").record.bytes > 5 * run_of(*results, "AD-PSGD").record.bytes);
  // Fifteen updates by others while a gradient is computed (0.8 ms), and on the fifteen other replicas of sixteen those
  // that fifteen workers out of phase make while it travels: 100 us and 15 x 800 bytes at 1 Gb/s.
  const double travels_s = 1e-4 + 15 * 800 * 8 / 1e9;
  CHECK(run_of(*results, "broadcast").record.staleness_mean.value() ==
        Approx(15.0 + 15.0 / 16.0 * 14.1 * travels_s / 0.8e-3).epsilon(0.05));
}

TEST_CASE("two_islands: two parts never agree, and a note says so") {
  const auto results = results_of("two_islands.toml");
  const auto& islands = run_of(*results, "two rings of four");
  const auto& ring = run_of(*results, "a ring of eight");
  CHECK(islands.record.spectral_gap == 0.0);
  REQUIRE(islands.record.notes.size() == 1);
  CHECK(islands.record.notes[0].find("2 parts of 4, 4 ranks") != std::string::npos);
  CHECK(ring.record.notes.empty());
  CHECK(apart(islands) > 10 * apart(ring));
  CHECK(islands.record.bytes == ring.record.bytes);
}

}  // namespace gossip_scenarios_test

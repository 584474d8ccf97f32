// Gossip with one peer a step, and stochastic gradient push: whole, and in buckets beside the backward pass.
#include <cmath>
#include <numbers>

#include "strategies/compressed.h"
#include "strategies/gossip/gossip.h"
#include "strategies/gossip/sgp.h"
#include "strategies/replicas.h"
#include "strategies/timed_layers.h"

namespace one_peer_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Gossip;
using strategies::GossipUpdate;
using strategies::Sgp;

namespace {

training::Program with_one_peer(std::string_view graph, bool directed = false) {
  return made<Gossip>([&](Gossip& gossip) {
    gossip.one_peer = true;
    if (directed) gossip.graph = Sgp().graph;
    if (!directed) gossip.graph.choose(graph);
  });
}

}  // namespace

// B. Ying et al., "Exponential Graph is Provably Efficient for Decentralized Deep Training", NeurIPS 2021, Lemma 1; on
// a hypercube each turn is a dimension.
TEST_CASE("gossip with one peer on a directed exponential graph or a hypercube averages exactly in log2 P steps") {
  for (const bool directed : {true, false})
    for (const int P : {2, 4, 8, 16}) {
      const Trial trial = averaging(with_one_peer("hypercube", directed), P, 8);
      const Outcome outcome = trial.run();
      const int rounds = static_cast<int>(std::log2(P));
      CAPTURE(P, directed);
      REQUIRE(outcome.record.error.empty());
      // The first step averages what all ranks have in common, and then they take steps of their own.
      for (const auto& row : outcome.record.curve) {
        if (row.step > 0 && row.step <= rounds) CHECK(row.consensus_distance.value() > 1e-3);
        if (row.step > rounds) CHECK(row.consensus_distance.value() < 1e-15);
      }
      CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-12);
      CHECK(outcome.record.spectral_gap == (P == 2 ? std::optional(1.0) : std::nullopt));
    }
}

TEST_CASE("one peer around a ring has a gap of 1 - cos(pi / P)") {
  // Averages with one neighbour, then with the other: (I + S) / 2 and (I + S^-1) / 2, whose product has the eigenvalues
  // (1 + cos(2 pi k / P)) / 2 = cos^2(pi k / P).
  for (const int P : {3, 5, 8, 12})
    CHECK(averaging(with_one_peer("ring"), P, 2).run().record.spectral_gap.value() ==
          Approx(1.0 - std::cos(std::numbers::pi / P)).epsilon(1e-9));
}

TEST_CASE("gossip with one peer keeps the mean on graphs that look alike from all ranks") {
  for (const char* graph : {"ring", "torus_2d", "complete", "exponential", "hypercube"})
    for (const char* code : {"none", "int8"}) {
      Trial trial = averaging(made<Gossip>([&](Gossip& gossip) {
                                gossip.one_peer = true;
                                gossip.graph.choose(graph);
                                gossip.compression.choose(code);
                              }),
                              8, 300);
      const Outcome outcome = trial.run();
      CAPTURE(graph, code);
      REQUIRE(outcome.record.error.empty());
      CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-9);
    }
}

TEST_CASE("a step of gossip with one peer takes t_c + alpha + M beta + 3 d / speed + t_update, on every network") {
  for (const auto model : {cluster::NetworkModel::ideal, cluster::NetworkModel::ethernet}) {
    Trial trial{.program = with_one_peer("exponential"), .workers = 8, .rows = 48, .features = 2000};
    trial.training.learning_rate = 1e-4;  // it must not diverge, which would end it
    trial.stop.steps = 20;
    trial.cluster.network_model = model;
    const double goodput = model == cluster::NetworkModel::ideal ? 1.0 : 1448.0 / 1538.0;
    const double step = trial.gradient_s() + alpha + trial.message_bytes() / (goodput * B) + (3 + 2) * 2000 / speed;
    const record::Record record = trial.run().record;
    CHECK(record.simulated_s == Approx(20 * step).epsilon(1e-9));
    CHECK(record.messages == 20 * 8);
  }
}

TEST_CASE("gossip with one peer goes on after a crash, from a checkpoint with the numbers that it would have had") {
  for (const auto recovery : {cluster::Recovery::restart, cluster::Recovery::wait}) {
    Trial trial{.program = with_one_peer("hypercube"), .workers = 4, .rows = 48, .features = 4};
    trial.batch = 12;
    trial.stop.steps = 20;
    trial.training.checkpoint_every_steps = 3;
    const Outcome undisturbed = trial.run();
    trial.cluster.failures.recovery = recovery;
    trial.cluster.failures.crashes.resize(1);
    trial.cluster.failures.crashes[0].rank = 2;
    trial.cluster.failures.crashes[0].at_s = 0.6 * undisturbed.record.simulated_s;
    trial.cluster.failures.crashes[0].repair_s = 1e-3;
    const Outcome outcome = trial.run();
    CHECK(outcome.record.error.empty());
    CHECK(outcome.record.crashes == 1);
    // Waiting, the rank that comes back takes its neighbour's parameters.
    if (recovery == cluster::Recovery::restart) CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

TEST_CASE("a bucket of a push, or of gossip with one peer, leaves as the backward pass is through with it") {
  constexpr int layers = 4, steps = 3;
  for (const std::int64_t d : {4 * 12 * 30, 4 * 12 * 10'000, 4 * 12 * 100'000})
    for (const int k : {1, 2, 4})
      for (const bool push : {true, false}) {
        const double M = 8.0 * static_cast<double>(d), m = M * k / layers;
        Sgp sgp;
        Gossip gossip;
        gossip.one_peer = true;
        sgp.bucket_bytes = gossip.bucket_bytes = m;
        auto program = push ? strategies::program(std::make_shared<Sgp>(sgp))
                            : strategies::program(std::make_shared<Gossip>(gossip));
        const Trial trial = timed_layers(std::move(program), 8, d, layers, steps);
        CAPTURE(d, k, push);
        const double layer_s = trial.gradient_s() / 2.0 / layers;
        const double message_s = alpha + (m + (push ? 8.0 : 0.0)) / B;  // a push carries its weight
        double ready = layers * layer_s, sent = 0.0;
        for (int b = 0; b < layers / k; ++b) {
          ready += k * layer_s;
          sent = std::max(ready, sent) + message_s;
        }
        const record::Record record = trial.run().record;
        REQUIRE(record.error.empty());
        CHECK(record.simulated_s == Approx(steps * sent).epsilon(1e-9));
        CHECK(record.messages == steps * 8 * layers / k);
      }
}

}  // namespace one_peer_test

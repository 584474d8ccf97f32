// Stochastic gradient push.
#include "strategies/gossip/sgp.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "strategies/compressed.h"
#include "strategies/replicas.h"

namespace sgp_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Sgp;
using strategies::Worker;

namespace {

training::Program push(bool one_peer, bool overlap, std::string_view graph = "") {
  return made<Sgp>([&](Sgp& sgp) {
    sgp.one_peer = one_peer;
    sgp.overlap = overlap;
    if (!graph.empty()) sgp.graph.choose(graph);
  });
}

/// A push that notes where its turns are.
struct NotingSgp : Sgp {
  void operator()(Worker& worker) const override {
    kept.push_back(turns(worker));
    worker.note(fmt::format("turns at {}", fmt::ptr(kept.back().get())));
    Sgp::operator()(worker);
  }
  mutable std::vector<std::shared_ptr<const strategies::PushTurns>> kept;  // else another may be at the same place
};

}  // namespace

TEST_CASE("one-peer exponential push averages exactly after log2 P steps") {
  for (const int P : {2, 4, 8, 16}) {
    const Trial trial = averaging(push(true, false), P, 8);
    const Outcome outcome = trial.run();
    int rounds = 0;
    while (1 << rounds < P) ++rounds;
    CAPTURE(P);
    for (const auto& row : outcome.record.curve) {
      if (row.step > 0 && row.step < rounds) CHECK(row.consensus_distance.value() > 1e-3);
      if (row.step >= rounds) CHECK(row.consensus_distance.value() < 1e-15);
    }
    CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-12);
    // One step averages two ranks exactly. More ranks need log2 P steps: no gap says how much one of them does.
    CHECK(outcome.record.spectral_gap == (P == 2 ? std::optional(1.0) : std::nullopt));
    CHECK(outcome.record.notes.size() == (P == 2 ? 0 : 1));
  }
}

TEST_CASE("the turns of a push are made once for all ranks") {
  std::set<std::string> places;
  for (const std::string& note : averaging(made<NotingSgp>(), 8, 2).run().record.notes)
    if (note.starts_with("turns at")) places.insert(note);
  CHECK(places.size() == 1);
}

TEST_CASE("push to both neighbours of a ring has the ring's spectral gap") {
  // Thirds: eigenvalues (1 + 2 cos(2 pi k / P)) / 3, so that 1 - (1 + 2 cos 60 degrees) / 3 is left.
  CHECK(averaging(push(false, false, "ring"), 6, 2).run().record.spectral_gap.value() ==
        Approx(1.0 / 3.0).epsilon(1e-9));
}

TEST_CASE("push-sum weights put the mean right where degrees differ, overlapped or not, with one peer or all") {
  for (const std::string graph : {"path", "star", "ring", "exponential", "grid_2d"})
    for (const bool one_peer : {false, true})
      for (const bool overlap : {false, true}) {
        const Trial trial = averaging(push(one_peer, overlap, graph), 6, 700);
        const Outcome outcome = trial.run();
        CAPTURE(graph, one_peer, overlap);
        REQUIRE(outcome.record.error.empty());
        CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-9);
        CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-9);
      }
}

TEST_CASE("push with one peer takes t_c + alpha + (M + 8) beta + 3 d + update, overlapped the longer of the two") {
  for (const double flops_a_row : {1e3, 1e6}) {
    Trial trial{.program = push(true, false), .workers = 8, .rows = 48, .features = 2000};
    trial.training.learning_rate = 1e-4;  // it must not diverge, which would end it
    trial.flops_a_row = flops_a_row;
    trial.stop.steps = 20;
    const double transfer = alpha + (trial.message_bytes() + 8) / B, rest = trial.gradient_s() + 5 * 2000 / speed;
    CHECK(trial.run().record.simulated_s == Approx(20 * (transfer + rest)).epsilon(1e-9));
    trial.program = push(true, true);
    // The first step has nothing to wait for, and nothing to add.
    const double expected = transfer > rest ? 19 * transfer + rest : 20 * rest - 2000 / speed;
    CHECK(trial.run().record.simulated_s == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("push to all targets of a directed graph takes a share for each") {
  Trial trial{.program = push(false, false), .workers = 8, .rows = 48, .features = 2000};
  trial.training.learning_rate = 1e-4;  // it must not diverge, which would end it
  trial.stop.steps = 20;
  const double transfer = alpha + 3 * (trial.message_bytes() + 8) / B;  // to i + 1, i + 2, i + 4
  CHECK(trial.run().record.simulated_s ==
        Approx(20 * (trial.gradient_s() + transfer + (5 + 2) * 2000 / speed)).epsilon(1e-9));
}

TEST_CASE("overlapped push goes on from a checkpoint with what was under way, bit for bit, codes too") {
  for (const char* kind : {"none", "float16"}) {
    CAPTURE(kind);
    Trial trial{.program = made<Sgp>([&](Sgp& sgp) {
                  sgp.overlap = true;
                  sgp.compression = Compressor(kind).slot();
                }),
                .workers = 4,
                .rows = 48,
                .features = 4};
    trial.batch = 12;
    trial.stop.steps = 20;
    trial.training.checkpoint_every_steps = 3;
    const Outcome undisturbed = trial.run();
    trial.cluster.failures.crashes.resize(1);
    trial.cluster.failures.crashes[0].rank = 2;
    trial.cluster.failures.crashes[0].at_s = 0.6 * undisturbed.record.simulated_s;
    trial.cluster.failures.crashes[0].repair_s = 1e-3;
    const Outcome outcome = trial.run();
    CHECK(outcome.record.error.empty());
    CHECK(outcome.record.crashes == 1);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

}  // namespace sgp_test

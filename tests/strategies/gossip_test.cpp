// Averages among neighbours: how fast they make replicas agree, on what, and what they cost.
#include "strategies/gossip/gossip.h"

#include <cmath>

#include "scratch.h"
#include "strategies/gossip/graphs/edge_list.h"
#include "strategies/gossip/graphs/powers.h"
#include "strategies/gossip/mixing/matrix_file.h"
#include "strategies/gossip/mixing/spectrum.h"
#include "strategies/gossip/sgp.h"
#include "strategies/replicas.h"

namespace gossip_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Gossip;

namespace {

training::Program on(std::string_view graph, std::string_view mixing = "metropolis") {
  return made<Gossip>([&](Gossip& gossip) {
    gossip.graph.choose(graph);
    gossip.mixing.choose(mixing);
  });
}

/// The factor by which the consensus distance falls a step, fitted to its logarithm over at most 100 steps.
double contraction(const record::Record& record) {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  const double first = record.curve.at(1).consensus_distance.value();
  for (const auto& row : record.curve) {
    const double distance = row.consensus_distance.value();
    if (row.step < 10 || row.step > 109 || distance < 1e-11 * first) continue;
    const double k = static_cast<double>(row.step), log = std::log(distance);
    n += 1.0, x += k, y += log, xx += k * k, xy += k * log;
  }
  REQUIRE(n >= 10.0);
  return std::exp((n * xy - x * y) / (n * xx - x * x));
}

}  // namespace

TEST_CASE("disagreement falls at the rate of the second eigenvalue, within 2 % over 100 steps") {
  for (const auto& [graph, P] : {std::pair<std::string, int>("ring", 12),
                                 {"torus_2d", 36},
                                 {"exponential", 33},
                                 {"path", 7},
                                 {"star", 9},
                                 {"hypercube", 32}}) {
    CAPTURE(graph, P);
    const Outcome outcome = averaging(on(graph), P, 110).run();
    REQUIRE(outcome.record.error.empty());
    CHECK(contraction(outcome.record) == Approx(1.0 - outcome.record.spectral_gap.value()).epsilon(0.02));
  }
}

TEST_CASE("gossip preserves the mean, whatever the graph, under doubly stochastic mixing") {
  for (const std::string graph : {"ring", "path", "star", "torus_2d", "exponential", "erdos_renyi"})
    for (const std::string mixing : {"metropolis", "max_degree"}) {
      CAPTURE(graph, mixing);
      const Trial trial = averaging(on(graph, mixing), 12, 60);
      CHECK(relative_distance(trial.run().final_parameters(), one_step(trial)) < 1e-12);
    }
}

TEST_CASE("uniform mixing where degrees differ says that it does not preserve the mean, and does not") {
  const Trial trial = averaging(on("star", "uniform"), 8, 200);
  const Outcome outcome = trial.run();
  REQUIRE(outcome.record.notes.size() == 1);
  CHECK(outcome.record.notes[0].find("does not preserve the mean") != std::string::npos);
  CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-12);
  CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) > 1e-2);
}

TEST_CASE("adapt then combine with uniform mixing on the complete graph is an allreduce") {
  for (const int P : {2, 3, 8}) {
    Trial trial{.program = made<Gossip>([](Gossip& gossip) {
                  gossip.graph.choose("complete");
                  gossip.mixing.choose("uniform");
                  gossip.update = GossipUpdate::adapt_then_combine;
                }),
                .workers = P,
                .rows = 50,
                .features = 6};
    trial.batch = 24;
    trial.stop.steps = 60;
    Trial sum = trial;
    sum.program = ring_allreduce();
    CHECK(relative_distance(trial.run().final_parameters(), sum.run().final_parameters()) < 1e-12);
  }
}

TEST_CASE("a disconnected graph warns, has no gap, and its parts never agree") {
  const Scratch scratch;
  const std::string file = scratch.write("edges.txt", "0 1\n2 3\n3 4\n");
  const Outcome outcome = averaging(made<Gossip>([&](Gossip& gossip) {
                                      auto edges = std::make_unique<strategies::EdgeList>();
                                      edges->path = file;
                                      gossip.graph =
                                          base::Slot<strategies::Graph>(strategies::graphs(), std::move(edges));
                                    }),
                                    5, 300)
                              .run();
  REQUIRE(outcome.record.error.empty());
  REQUIRE(outcome.record.notes.size() == 1);
  CHECK(outcome.record.notes[0].find("the graph falls into 2 parts of 3, 2 ranks") == 0);
  CHECK(outcome.record.spectral_gap == 0.0);
  const auto& curve = outcome.record.curve;
  CHECK(curve.back().consensus_distance.value() > 0.1 * curve[1].consensus_distance.value());
  CHECK(curve.back().consensus_distance.value() == Approx(curve[200].consensus_distance.value()).epsilon(1e-9));
}

TEST_CASE(
    "overlapped D-PSGD takes the longer of gradient and exchange, then mixing and update, with the same parameters") {
  for (const double flops_a_row : {1e3, 1e6})
    for (const std::string graph : {"ring", "complete"}) {
      Trial trial{.program = made<Gossip>([&](Gossip& gossip) {
                    gossip.graph.choose(graph);
                    gossip.overlap = true;
                  }),
                  .workers = 6,
                  .rows = 48,
                  .features = 2000};
      trial.training.learning_rate = 1e-4;  // it must not diverge, which would end it
      trial.flops_a_row = flops_a_row;
      trial.stop.steps = 20;
      const double degree = graph == "ring" ? 2 : 5;
      const double exchange = alpha + degree * trial.message_bytes() / B;
      const double step = std::max(trial.gradient_s(), exchange) + (2 * degree + 1 + 2) * 2000 / speed;
      const Outcome outcome = trial.run();
      CAPTURE(flops_a_row, graph);
      CHECK(outcome.record.simulated_s == Approx(20 * step).epsilon(1e-9));
      trial.program = on(graph);
      const Outcome after = trial.run();
      CHECK(after.final_parameters() == outcome.final_parameters());
      CHECK(after.record.simulated_s == Approx(20 * (step + std::min(trial.gradient_s(), exchange))).epsilon(1e-9));
    }
}

TEST_CASE("a rank that sends and receives from nobody leads the others, with codes too") {
  const Scratch scratch;
  const std::string path = scratch.write("one_way.edges", "0 1\n1 2\n");
  for (const std::string code : {"none", "float16", "top_k"})
    for (const GossipUpdate update : {GossipUpdate::combine_then_adapt, GossipUpdate::gradient_exchange}) {
      const auto program = made<Gossip>([&](Gossip& gossip) {
        auto list = std::make_unique<strategies::EdgeList>();
        list->path = path;
        list->one_way = true;
        gossip.graph = base::Slot<strategies::Graph>(strategies::graphs(), std::move(list));
        gossip.mixing.choose("uniform");
        gossip.update = update;
        gossip.compression.choose(code);
      });
      Trial trial{.program = program, .workers = 3};
      trial.stop.steps = 20;
      const Outcome outcome = trial.run();
      CAPTURE(code, update == GossipUpdate::gradient_exchange);
      CHECK(outcome.record.error.empty());
      CHECK(outcome.record.steps == 20);
      CHECK(*outcome.record.final_loss < 0.5 * *outcome.record.curve.front().loss);
    }
}

TEST_CASE("an average of which only a weight of 0 is left is oneself") {
  const Scratch scratch;
  const std::string path = scratch.write("W.txt", "0 .5 .5\n.5 0 .5\n.5 .5 0\n");
  Trial trial{.program = made<Gossip>([&](Gossip& gossip) {
                auto file = std::make_unique<strategies::MatrixFile>();
                file->path = path;
                gossip.graph.choose("complete");
                gossip.mixing = base::Slot<strategies::Mixing>(strategies::mixings(), std::move(file));
              }),
              .workers = 3};
  trial.stop.steps = 40;
  trial.cluster.failures.recovery = cluster::Recovery::keep_going;
  trial.cluster.failures.crashes.resize(2);
  for (const int r : {1, 2}) {
    trial.cluster.failures.crashes[static_cast<std::size_t>(r - 1)].rank = r;
    trial.cluster.failures.crashes[static_cast<std::size_t>(r - 1)].at_s = 5e-4;
  }
  const Outcome outcome = trial.run();
  CHECK(outcome.record.error.empty());
  CHECK(*outcome.record.final_loss < *outcome.record.curve.front().loss);
}

TEST_CASE("after the loss of ranks a hypercube is what is left of it") {
  Trial trial = averaging(on("hypercube"), 8, 400);
  trial.cluster.failures.crashes.resize(1);
  trial.cluster.failures.crashes[0].rank = 5;
  trial.cluster.failures.crashes[0].at_s = 1e-3;
  trial.cluster.failures.recovery = cluster::Recovery::shrink;
  const Outcome outcome = trial.run();
  CHECK(outcome.record.error.empty());
  CHECK(outcome.record.steps == 400);
  CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-12);
}

TEST_CASE("epochs are over all samples asked for, however many replicas are lost while the others go on") {
  for (const auto& program : {made<Gossip>(), made<strategies::Sgp>()}) {
    Trial trial{.program = program, .workers = 4, .rows = 48, .features = 5};
    trial.flops_a_row = 1e5;
    trial.stop.epochs = 30;
    trial.cluster.failures.recovery = cluster::Recovery::keep_going;
    const record::Record whole = trial.run().record;
    CHECK(whole.steps == 30);
    CHECK(whole.samples == 30 * 48);
    trial.cluster.failures.crashes.resize(1);
    trial.cluster.failures.crashes[0].rank = 1;
    trial.cluster.failures.crashes[0].at_s = whole.curve[10].simulated_s + 1e-6;
    const record::Record record = trial.run().record;
    REQUIRE(record.error.empty());
    // Ten epochs by four workers, then 36 samples a step: 480 + 27 x 36 = 1452 is the first sum from 1440 on.
    CHECK(record.steps == 10 + 27);
    CHECK(record.samples == 10 * 48 + 27 * 36);
    CHECK(record.epochs >= 30.0);
  }
}

}  // namespace gossip_test

// Federated averaging: some workers train the server's model, their mean by rows is the next one.
#include <cmath>
#include <set>

#include "strategies/programs.h"

namespace federated_averaging_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::FederatedAveraging;

namespace {

Trial clients(FederatedAveraging strategy, std::int64_t rounds) {
  Trial trial{.program = federated(strategy), .workers = 4, .rows = 80, .features = 6};
  trial.stop.steps = rounds;
  return trial;
}

FederatedAveraging averaging(std::int64_t H) {
  FederatedAveraging strategy;
  strategy.local_steps = H;
  return strategy;
}

/// Shards of unequal sizes, their first rows first.
std::vector<std::pair<std::int64_t, std::int64_t>> shards(const Trial& trial) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  const training::Batches batches = trial.batches();
  std::int64_t first = 0;
  for (int r = 0; r < trial.workers; ++r) {
    all.emplace_back(first, batches.rows_of(r, trial.workers));
    first += all.back().second;
  }
  return all;
}

}  // namespace

TEST_CASE("with all workers and one local step federated averaging is gradient descent, however unequal the shards") {
  for (const char* partition : {"iid", "quantity"}) {
    Trial trial = clients(averaging(1), 30);
    trial.training.partition.choose(partition);
    const Outcome rounds = trial.run();
    trial.program = ring_allreduce();
    const Outcome steps = trial.run();
    CAPTURE(partition);
    for (std::size_t k = 1; k <= 30; ++k) REQUIRE(relative_distance(rounds.evaluated[k], steps.evaluated[k]) < 1e-12);
  }
}

TEST_CASE("a round's workers take their steps on the mean loss of their own rows, held near the round's model") {
  for (const double mu : {0.0, 0.8}) {
    FederatedAveraging strategy = averaging(3);
    strategy.proximal = mu;
    Trial trial = clients(strategy, 5);
    trial.training.partition.choose("quantity");
    const Outcome outcome = trial.run();
    const data::Dataset set = trial.data().train;
    std::vector<double> w(6);
    for (std::size_t round = 1; round <= 5; ++round) {
      std::vector<double> mean(6);
      for (const auto& [first, rows] : shards(trial)) {
        std::vector<double> x = w;
        for (int h = 0; h < 3; ++h) {
          const auto g = gradient_of(trial, set, {first, rows, {}}, x, 1.0 / static_cast<double>(rows));
          for (std::size_t i = 0; i < 6; ++i) x[i] -= trial.training.learning_rate * (g[i] + mu * (x[i] - w[i]));
        }
        for (std::size_t i = 0; i < 6; ++i) mean[i] += x[i] * static_cast<double>(rows) / 80.0;
      }
      w = mean;
      CAPTURE(mu, round);
      CHECK(relative_distance(outcome.evaluated[round], w) < 1e-12);
    }
    CHECK(outcome.record.samples == 5 * 3 * 80);
  }
}

TEST_CASE("a fraction of the workers trains in a round, another one in the next") {
  FederatedAveraging strategy = averaging(2);
  strategy.fraction_train = 0.5;
  Trial trial = clients(strategy, 40);
  const Outcome outcome = trial.run();
  // Two of four workers, each with a message to and from it a round.
  CHECK(outcome.record.messages == 40 * 4);
  CHECK(outcome.record.samples == 40 * 2 * 2 * 20);
  for (const record::RankUse& rank : outcome.record.ranks)
    if (rank.role == "worker") CHECK(rank.compute_s > 0.0);
  strategy.fraction_train = 0.01;  // one at least
  CHECK(clients(strategy, 10).run().record.messages == 10 * 2);
}

TEST_CASE("a round takes H (t_c + update) + 2 alpha + 2 m M beta + 2 m d / speed") {
  for (const double fraction : {1.0, 0.5}) {
    FederatedAveraging strategy = averaging(5);
    strategy.fraction_train = fraction;
    strategy.proximal = 0.1;
    Trial trial = clients(strategy, 3);
    trial.features = 10'000;
    trial.training.numbers = false;
    const double d = 10'000;
    const double m = 4 * fraction;
    const double round =
        5 * (trial.gradient_s() + (3 + 2) * d / speed) + 2 * (alpha + m * 8 * d / B) + 2 * m * d / speed;
    CAPTURE(fraction);
    CHECK(trial.run().record.simulated_s == Approx(3 * round).epsilon(1e-9));
  }
}

TEST_CASE("local epochs are as many steps as it takes to go over a worker's rows") {
  FederatedAveraging strategy;
  strategy.local_epochs = 1.5;
  Trial trial = clients(strategy, 4);
  trial.batch = 16;  // 4 rows a worker and step, of 20: 7.5 steps, so 8
  CHECK(trial.run().record.samples == 4 * 8 * 16);
}

TEST_CASE("rounds go on without the lost, and with them again once they are back") {
  Trial trial = clients(averaging(2), 60);
  trial.flops_a_row = 1e5;
  const double alone_s = trial.run().record.simulated_s;
  cluster::Crash crash;
  crash.rank = 1;
  crash.at_s = 0.3 * alone_s;
  crash.repair_s = 0.3 * alone_s;
  trial.cluster.failures.crashes = {crash};
  trial.cluster.failures.recovery = cluster::Recovery::keep_going;
  trial.cluster.failures.detection_s = 1e-3;
  const Outcome outcome = trial.run();
  CHECK(outcome.record.error.empty());
  CHECK(outcome.record.steps == 60);
  const std::int64_t missing = 60 * 2 * 80 - outcome.record.samples;  // those of the lost worker's rounds
  CHECK(missing >= 12 * 2 * 20);
  CHECK(missing <= 24 * 2 * 20);
}

TEST_CASE("the distance of a round's models is that before they are averaged") {
  const Trial trial = clients(averaging(1), 4);
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<double> w(6);
  for (std::size_t round = 1; round <= 4; ++round) {
    double squares = 0.0;
    std::vector<double> mean(6);
    std::vector<std::vector<double>> models;
    for (const auto& [first, count] : shards(trial)) {
      models.push_back(w);
      const auto g = gradient_of(trial, set, {first, count, {}}, w, 1.0 / static_cast<double>(count));
      for (std::size_t i = 0; i < 6; ++i) {
        models.back()[i] -= trial.training.learning_rate * g[i];
        mean[i] += models.back()[i] / 4.0;
      }
    }
    for (const auto& each : models)
      for (std::size_t i = 0; i < 6; ++i) squares += (each[i] - mean[i]) * (each[i] - mean[i]);
    CHECK(outcome.record.curve[round].consensus_distance.value() == Approx(std::sqrt(squares / 4.0)).epsilon(1e-9));
    w = mean;
  }
  REQUIRE(outcome.record.notes.size() == 1);
  CHECK(outcome.record.notes.front().starts_with("stop.steps = 4: a step is one round"));
}

TEST_CASE("a round that the time limit cuts counts no samples, and a lost worker's model counts none of its own") {
  Trial trial = clients(averaging(3), 5);
  trial.flops_a_row = 1e5;
  const record::Record whole = trial.run().record;
  trial.stop = {};
  trial.stop.time_s = whole.curve[4].simulated_s + 0.9 * (whole.curve[5].simulated_s - whole.curve[4].simulated_s);
  const record::Record cut = trial.run().record;
  CHECK(cut.steps == 4);
  CHECK(cut.samples == 4 * 3 * 80);
  trial.stop = {};
  trial.stop.steps = 5;
  cluster::Crash crash;
  crash.rank = 2;
  crash.at_s = whole.curve[2].simulated_s + 0.5 * (whole.curve[3].simulated_s - whole.curve[2].simulated_s);
  trial.cluster.failures.crashes = {crash};
  trial.cluster.failures.recovery = cluster::Recovery::keep_going;
  const record::Record lost = trial.run().record;
  CHECK(lost.steps == 5);
  CHECK(lost.samples == 2 * 3 * 80 + 3 * 3 * 60);  // of four workers for two rounds, of three for the others
}

}  // namespace federated_averaging_test

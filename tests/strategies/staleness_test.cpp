// How old the parameters are at which an asynchronous server's gradients were computed.
#include "strategies/programs.h"

namespace staleness_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

Trial asynchronous(int P, std::int64_t updates) {
  Trial trial{.program = parameter_server(Consistency::asp), .workers = P, .rows = 720, .features = 100};
  trial.stop.steps = updates;
  return trial;
}

}  // namespace

TEST_CASE("P equal workers have a staleness of P - 1, once every one of them has had its first answer") {
  for (const bool charged : {true, false})
    for (const int P : {1, 2, 4, 8}) {
      Trial trial = asynchronous(P, 10 * P);
      trial.cluster.charge_reductions = charged;
      trial.training.numbers = false;
      const record::Record record = trial.run().record;
      // All begin at version 0: the i-th of the first round is i updates late. From then on each of a worker's
      // gradients is applied after exactly one of every other worker's.
      const double first_round = P * (P - 1) / 2.0;
      const double expected = (first_round + 9.0 * P * (P - 1)) / (10.0 * P);
      CAPTURE(P, charged);
      // Gradients that come at the very same time (free updates) are applied in any order: first in one round, last in
      // the next is 2(P - 1) updates late. The mean does not change.
      CHECK(record.staleness_max.value() >= P - 1);
      CHECK(record.staleness_max.value() <= (charged ? P - 1 : 2 * (P - 1)));
      CHECK(record.staleness_mean.value() == Approx(expected).epsilon(1e-12));
    }
}

TEST_CASE("a worker at a quarter of the speed is staler than the others") {
  Trial trial = asynchronous(4, 400);
  trial.rows = 72'000;
  trial.training.numbers = false;
  trial.cluster.relative_speeds = {1.0, 1.0, 1.0, 0.25};
  const record::Record record = trial.run().record;
  // Between two gradients of the slow worker each of the three others has four or so; nobody else waits for more than
  // two gradients of the other two and one of the slow one.
  CHECK(record.staleness_max.value() >= 11);
  CHECK(record.staleness_max.value() <= 13);
  // By worker: the slow one's gradients are the oldest, and the means, weighted by gradients, make the whole's.
  CHECK(record.ranks[3].staleness_mean.value() > 10.0);
  for (const std::size_t fast : {0u, 1u, 2u}) CHECK(record.ranks[fast].staleness_mean.value() < 3.0);
  CHECK(!record.ranks[4].staleness_mean);
}

TEST_CASE("synchronous strategies have no staleness") {
  Trial trial = asynchronous(4, 10);
  for (const auto& [name, program] : parallel_strategies()) {
    if (!program.traits(4).lockstep()) continue;
    trial.program = program;
    CAPTURE(name);
    const record::Record record = trial.run().record;
    CHECK(!record.staleness_mean);
    for (const record::RankUse& rank : record.ranks) CHECK(!rank.staleness_mean);
  }
}

TEST_CASE("a stale gradient is of the parameters that its worker had pulled") {
  // Two equal workers: both pull w0; worker 0's part of the gradient makes w1 of it, worker 1's, also at w0, w2;
  // worker 0 has pulled w1 meanwhile, and worker 1 then w2.
  Trial trial = asynchronous(2, 6);
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> w{std::vector<double>(100)};
  std::vector<std::size_t> pulled{0, 0};
  for (std::size_t k = 0; k < 6; ++k) {
    const std::size_t worker = k % 2;
    const auto g = gradient_of(trial, set, {worker == 0 ? 0 : 360, 360, {}}, w[pulled[worker]], 1.0 / 720.0);
    w.push_back(w.back());
    for (std::size_t i = 0; i < g.size(); ++i) w.back()[i] -= trial.training.learning_rate * g[i];
    pulled[worker] = k + 1;
  }
  REQUIRE(outcome.evaluated.size() == w.size());
  for (std::size_t k = 1; k < w.size(); ++k) CHECK(relative_distance(outcome.evaluated[k], w[k]) < 1e-13);
}

TEST_CASE("gradient = \"mean\" counts a part P times") {
  Trial sum = asynchronous(4, 12);
  sum.training.learning_rate = 0.08;
  Trial mean = sum;
  mean.program = parameter_server(Consistency::asp, strategies::Part::mean);
  mean.training.learning_rate = 0.02;
  const Outcome one = sum.run();
  const Outcome other = mean.run();
  CHECK(relative_distance(other.final_parameters(), one.final_parameters()) < 1e-13);
}

TEST_CASE("an asynchronous schedule counts P updates as one round") {
  // One round of two updates at lr / (1 + 0.01 floor-free k / P): the update after k others has the factor of k / P.
  Trial trial = asynchronous(2, 4);
  trial.training.schedule.choose("inverse_time");
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> w{std::vector<double>(100)};
  std::vector<std::size_t> pulled{0, 0};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t worker = k % 2;
    const double lr = trial.training.learning_rate / (1.0 + 0.01 * static_cast<double>(k) / 2.0);
    const auto g = gradient_of(trial, set, {worker == 0 ? 0 : 360, 360, {}}, w[pulled[worker]], 1.0 / 720.0);
    w.push_back(w.back());
    for (std::size_t i = 0; i < g.size(); ++i) w.back()[i] -= lr * g[i];
    pulled[worker] = k + 1;
  }
  CHECK(relative_distance(outcome.final_parameters(), w.back()) < 1e-13);
}

}  // namespace staleness_test

// Elastic averaging: replicas and a centre that pull at each other.
#include <cmath>

#include "strategies/programs.h"

namespace easgd_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

Trial elastic(int P, std::int64_t period, double beta, bool together, std::int64_t rounds) {
  Trial trial{.program = easgd(period, beta, together), .workers = P, .rows = 60, .features = 6};
  trial.flops_a_row = 1e6;
  trial.stop.steps = rounds;
  return trial;
}

}  // namespace

TEST_CASE(
    "synchronous easgd is x_i - alpha (x_i - c), c + alpha sum (x_i - c) with x_i and c of before, every period") {
  for (const std::int64_t period : {1, 3}) {
    const Trial trial = elastic(3, period, 0.6, true, 12);
    const Outcome outcome = trial.run();
    const data::Dataset set = trial.data().train;
    const double a = 0.6 / 3;
    std::vector<double> centre(6);
    std::vector<std::vector<double>> x(3, centre), stepped = x;
    CHECK(outcome.record.curve[0].consensus_distance == 0.0);
    REQUIRE(outcome.evaluated.size() == 13);
    for (std::size_t round = 1; round <= 12; ++round) {
      const std::vector<double> before = centre;
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::int64_t t = 0; t < period; ++t) {
          const auto g = gradient_of(trial, set, {static_cast<std::int64_t>(r) * 20, 20, {}}, x[r], 1.0 / 20.0);
          for (std::size_t i = 0; i < 6; ++i) x[r][i] -= trial.training.learning_rate * g[i];
        }
        stepped[r] = x[r];
        for (std::size_t i = 0; i < 6; ++i) {
          const double difference = x[r][i] - before[i];
          centre[i] += a * difference;
          x[r][i] -= a * difference;
        }
      }
      CAPTURE(period, round);
      // When the centre has moved, its answers are under way: the replicas have stepped, and are not pulled yet.
      CHECK(relative_distance(outcome.evaluated[round], centre) < 1e-12);
      double squares = 0.0;
      for (std::size_t i = 0; i < 6; ++i) {
        const double mean = (stepped[0][i] + stepped[1][i] + stepped[2][i]) / 3.0;
        for (const auto& each : stepped) squares += (each[i] - mean) * (each[i] - mean);
      }
      CHECK(outcome.record.curve[round].consensus_distance.value() == Approx(std::sqrt(squares / 3.0)).epsilon(1e-9));
    }
    CHECK(outcome.record.samples == 12 * period * 60);
  }
}

TEST_CASE("easgd on one worker that the centre follows entirely is sequential") {
  // alpha = 1: the centre jumps to the replica, and the replica to where the centre was; so they are two interleaved
  // trainings, of which the centre shows each at every other exchange.
  const Outcome outcome = elastic(1, 1, 1.0, false, 20).run();
  Trial alone = elastic(1, 1, 1.0, false, 10);
  alone.program = single();
  const Outcome sequential = alone.run();
  for (std::size_t k = 1; k <= 10; ++k)
    CHECK(relative_distance(outcome.evaluated[2 * k], sequential.evaluated[k]) < 1e-12);
}

TEST_CASE(
    "a synchronous round takes period (t_c + update) + 2 alpha + 2 P M beta, and the replica's and centre's moves") {
  for (const int P : {1, 4}) {
    Trial trial = elastic(P, 5, 0.9, true, 3);
    trial.features = 10'000;
    trial.training.numbers = false;
    const double d = 10'000;
    const double first_pull = alpha + P * 8 * d / B;
    // A worker's own move is overlapped by the centre's; the next push waits for neither.
    const double round = 5 * (trial.gradient_s() + 2 * d / speed) + 2 * (alpha + P * 8 * d / B) + 3 * d / speed;
    const record::Record record = trial.run().record;
    CAPTURE(P);
    // The last round ends when the centre has moved; it moves while the answers are under way.
    const double last = round - (alpha + P * 8 * d / B) - 3 * d / speed + 3 * P * d / speed;
    CHECK(record.simulated_s == Approx(first_pull + 2 * round + last).epsilon(1e-9));
  }
}

TEST_CASE("asynchronous easgd keeps a slow worker from holding up the others") {
  Trial trial = elastic(4, 2, 0.9, false, 100);
  trial.cluster.relative_speeds = {0.1};
  const record::Record asynchronous = trial.run().record;
  trial.program = easgd(2, 0.9, true);
  trial.stop = {};
  trial.stop.samples = asynchronous.samples;
  const record::Record synchronous = trial.run().record;
  CHECK(asynchronous.simulated_s < 0.3 * synchronous.simulated_s);
}

TEST_CASE("easgd says that its steps are exchanges, and that one worker is not the sequential algorithm") {
  const auto notes_of = [](const Trial& trial) { return trial.run().record.notes; };
  CHECK(
      notes_of(elastic(4, 3, 0.9, false, 8)) ==
      std::vector<std::string>{"stop.steps = 8: a step is one exchange of one worker with the centre, after period = 3 "
                               "gradients of that worker"});
  CHECK(notes_of(elastic(4, 1, 0.9, true, 8)) ==
        std::vector<std::string>{
            "stop.steps = 8: a step is one exchange of all workers with the centre, after period = 1 gradient"});
  Trial alone = elastic(1, 1, 0.5, false, 8);
  alone.stop = {};
  alone.stop.samples = 8 * 60;
  REQUIRE(notes_of(alone).size() == 1);
  CHECK(notes_of(alone).front().starts_with("easgd with one worker is not the sequential algorithm"));
  CHECK(!alone.run().record.curve.back().consensus_distance);
}

}  // namespace easgd_test

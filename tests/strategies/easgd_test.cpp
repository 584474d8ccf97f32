// Elastic averaging: replicas and a centre that pull at each other.
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
    std::vector<std::vector<double>> x(3, centre);
    REQUIRE(outcome.evaluated.size() == 13);
    for (std::size_t round = 1; round <= 12; ++round) {
      const std::vector<double> before = centre;
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::int64_t t = 0; t < period; ++t) {
          const auto g = gradient_of(trial, set, {static_cast<std::int64_t>(r) * 20, 20, {}}, x[r], 1.0 / 20.0);
          for (std::size_t i = 0; i < 6; ++i) x[r][i] -= trial.training.learning_rate * g[i];
        }
        for (std::size_t i = 0; i < 6; ++i) {
          const double difference = x[r][i] - before[i];
          centre[i] += a * difference;
          x[r][i] -= a * difference;
        }
      }
      CAPTURE(period, round);
      CHECK(relative_distance(outcome.evaluated[round], centre) < 1e-12);
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

}  // namespace easgd_test

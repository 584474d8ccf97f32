// Local SGD: H steps on every replica, then their mean.
#include "strategies/programs.h"

using namespace simgrad;
using namespace simgrad::tests;

namespace {

Trial local(int P, std::int64_t H, std::int64_t steps) {
  Trial trial{.program = local_sgd(H), .workers = P, .rows = 60, .features = 6};
  trial.stop.steps = steps;
  return trial;
}

}  // namespace

TEST_CASE("local SGD with one local step is an allreduce of gradients") {
  for (const int P : {1, 2, 3, 8}) {
    Trial trial = local(P, 1, 50);
    const Outcome averaged = trial.run();
    trial.program = ring_allreduce();
    const Outcome summed = trial.run();
    CAPTURE(P);
    REQUIRE(averaged.evaluated.size() == summed.evaluated.size());
    for (std::size_t k = 1; k < summed.evaluated.size(); ++k)
      REQUIRE(relative_distance(averaged.evaluated[k], summed.evaluated[k]) < 1e-12);
    for (const auto& row : averaged.record.curve) CHECK(row.consensus_distance.value_or(0.0) == 0.0);
  }
}

TEST_CASE("between two averages every replica is gradient descent on its own rows") {
  constexpr int P = 3;
  constexpr std::int64_t H = 4;
  const Trial trial = local(P, H, 3 * H);
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> x(P, std::vector<double>(6));
  for (std::size_t k = 1; k <= 3 * H; ++k) {
    std::vector<double> mean(6);
    for (std::size_t r = 0; r < P; ++r) {
      const auto g = gradient_of(trial, set, {static_cast<std::int64_t>(r) * 20, 20, {}}, x[r], 1.0 / 20.0);
      for (std::size_t i = 0; i < 6; ++i) {
        x[r][i] -= trial.training.learning_rate * g[i];
        mean[i] += x[r][i] / P;
      }
    }
    if (k % H == 0) x.assign(P, mean);
    CAPTURE(k);
    CHECK(relative_distance(outcome.evaluated[k], mean) < 1e-12);
    const double apart = outcome.record.curve[k].consensus_distance.value_or(-1.0);
    if (k % H == 0)
      CHECK(apart == 0.0);
    else
      CHECK(apart > 1e-6);
  }
  CHECK(outcome.record.samples == 3 * H * 60);
}

TEST_CASE("H local steps and one average take H (t_c + t_update) + T_allreduce + the mean's divisions") {
  for (const int P : {1, 2, 4}) {
    Trial trial = local(P, 5, 15);
    trial.features = 10'000;
    trial.training.numbers = false;
    const double d = 10'000;
    const double steps = P - 1;
    const double ring = 2 * steps * alpha + 2 * steps / P * 8 * d / B + steps / P * d / speed;
    const double mean = P > 1 ? d / speed : 0.0;
    CAPTURE(P);
    CHECK(trial.run().record.simulated_s ==
          Approx(3 * (5 * (trial.gradient_s() + 2 * d / speed) + ring + mean)).epsilon(1e-9));
  }
}

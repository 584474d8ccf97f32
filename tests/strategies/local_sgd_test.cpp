// Local SGD: H steps on every replica, then their mean.
#include "strategies/programs.h"

namespace local_sgd_test {

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

namespace {

/// The parameters after every step, at learning rate lr, by the recursion as the papers write it.
struct Recursion {
  const Trial& trial;
  data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> x = std::vector(static_cast<std::size_t>(trial.workers), std::vector<double>(6));
  std::vector<std::vector<double>> m = x;  ///< momentum

  void step(double momentum = 0.0) {
    const std::int64_t rows = 60 / trial.workers;
    for (std::size_t r = 0; r < x.size(); ++r) {
      const auto g = gradient_of(trial, set, {static_cast<std::int64_t>(r) * rows, rows, {}}, x[r],
                                 1.0 / static_cast<double>(rows));
      for (std::size_t i = 0; i < 6; ++i) {
        m[r][i] = momentum * m[r][i] + g[i];
        x[r][i] -= trial.training.learning_rate * m[r][i];
      }
    }
  }
  static std::vector<double> mean(const std::vector<std::vector<double>>& all) {
    std::vector<double> sum(6);
    for (const auto& each : all)
      for (std::size_t i = 0; i < 6; ++i) sum[i] += each[i] / static_cast<double>(all.size());
    return sum;
  }
  void average() { x.assign(x.size(), mean(x)); }
};

Trial of(strategies::LocalSgd strategy, std::int64_t steps) {
  strategy.algorithm.choose("ring");
  Trial trial = local(3, 1, steps);
  trial.program = local_sgd(std::move(strategy));
  return trial;
}

}  // namespace

TEST_CASE("slow momentum takes momentum of the rounds' moves") {
  strategies::LocalSgd strategy;
  strategy.local_steps = 4;
  strategy.slow_momentum = 0.6;
  strategy.slow_rate = 0.7;
  Trial trial = of(strategy, 16);
  trial.training.schedule.choose("step");
  const Outcome outcome = trial.run();
  Recursion expected{trial};
  std::vector<double> begun(6), u(6);
  const double lr = trial.training.learning_rate;
  for (std::size_t k = 1; k <= 16; ++k) {
    expected.step();
    if (k % 4 == 0) {
      const std::vector<double> average = Recursion::mean(expected.x);
      for (std::size_t i = 0; i < 6; ++i) {
        u[i] = 0.6 * u[i] + (begun[i] - average[i]) / lr;
        begun[i] -= 0.7 * lr * u[i];
      }
      expected.x.assign(3, begun);
    }
    CAPTURE(k);
    CHECK(relative_distance(outcome.evaluated[k], Recursion::mean(expected.x)) < 1e-12);
  }
}

TEST_CASE("slow momentum of 0 at a slow rate just off 1 is local SGD, and goes on from a checkpoint where it was") {
  strategies::LocalSgd plain;
  plain.local_steps = 3;
  strategies::LocalSgd almost = plain;
  almost.slow_rate = 1.0 + 1e-15;
  const Outcome slow = of(almost, 12).run();
  const Outcome usual = of(plain, 12).run();
  CHECK(relative_distance(slow.evaluated.back(), usual.evaluated.back()) < 1e-12);

  strategies::LocalSgd moving = plain;
  moving.slow_momentum = 0.5;
  Trial trial = of(moving, 12);
  trial.flops_a_row = 1e6;
  trial.training.checkpoint_every_steps = 4;  // in the middle of a round
  const Outcome undisturbed = trial.run();
  cluster::Crash crash;
  crash.at_s = 0.6 * undisturbed.record.simulated_s;
  crash.repair_s = 0.01;
  trial.cluster.failures.crashes = {crash};
  const Outcome outcome = trial.run();
  CHECK(outcome.record.crashes == 1);
  CHECK(outcome.final_parameters() == undisturbed.final_parameters());
}

TEST_CASE("replicas that are averaged once are averaged at the end, and communicate then only") {
  strategies::LocalSgd strategy;
  strategy.local_steps = {};
  const Outcome outcome = of(strategy, 10).run();
  const Trial trial = of(strategy, 10);
  Recursion expected{trial};
  for (std::size_t k = 1; k <= 10; ++k) expected.step();
  CHECK(relative_distance(outcome.final_parameters(), Recursion::mean(expected.x)) < 1e-12);
  CHECK(outcome.record.curve[9].consensus_distance.value_or(0.0) > 1e-6);
  CHECK(outcome.record.curve[10].consensus_distance == 0.0);
  CHECK(outcome.record.messages == 2 * (3 - 1) * 3);  // one ring allreduce
}

TEST_CASE("post-local SGD is an allreduce at first, and local SGD then") {
  strategies::LocalSgd strategy;
  strategy.local_steps = 4;
  strategy.synchronous_steps = 6;
  const Trial trial = of(strategy, 16);
  const Outcome outcome = trial.run();
  Recursion expected{trial};
  for (std::size_t k = 1; k <= 16; ++k) {
    expected.step();
    const bool averaged = k <= 6 || k == 10 || k == 14;
    if (averaged) expected.average();
    CAPTURE(k);
    CHECK(relative_distance(outcome.evaluated[k], Recursion::mean(expected.x)) < 1e-12);
    CHECK((outcome.record.curve[k].consensus_distance.value_or(-1.0) == 0.0) == averaged);
  }
}

TEST_CASE("the optimizer's memory is kept, averaged or reset when the replicas are averaged") {
  using strategies::MemoryAtAverage;
  for (const MemoryAtAverage how : {MemoryAtAverage::keep, MemoryAtAverage::average, MemoryAtAverage::reset}) {
    strategies::LocalSgd strategy;
    strategy.local_steps = 3;
    strategy.optimizer_memory = how;
    Trial trial = of(strategy, 12);
    trial.training.optimizer.choose("momentum");
    const Outcome outcome = trial.run();
    Recursion expected{trial};
    for (std::size_t k = 1; k <= 12; ++k) {
      expected.step(0.9);
      if (k % 3 != 0) continue;
      expected.average();
      if (how == MemoryAtAverage::average) expected.m.assign(3, Recursion::mean(expected.m));
      if (how == MemoryAtAverage::reset) expected.m.assign(3, std::vector<double>(6));
    }
    CAPTURE(static_cast<int>(how));
    CHECK(relative_distance(outcome.final_parameters(), Recursion::mean(expected.x)) < 1e-12);
    const int allreduces = how == MemoryAtAverage::average ? 8 : 4;
    CHECK(outcome.record.messages == allreduces * 2 * (3 - 1) * 3);
  }
}

}  // namespace local_sgd_test

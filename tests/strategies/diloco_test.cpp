// DiLoCo: H inner steps on every replica, then an outer Nesterov momentum along the replicas' mean change.
#include "strategies/replicas/diloco.h"

#include <cmath>

#include "strategies/fragile.h"

namespace diloco_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::DiLoCo;

namespace {

struct OuterOptions {
  std::int64_t H = 4;
  double rate = 0.7;
  double momentum = 0.9;
};

training::Program diloco(const OuterOptions& options, std::string_view algorithm = "ring") {
  auto strategy = around_a_ring<DiLoCo>();
  strategy->local_steps = options.H;
  strategy->outer_rate = options.rate;
  strategy->outer_momentum = options.momentum;
  strategy->algorithm.choose(algorithm);
  return strategies::program(strategy);
}

Trial diloco_trial(int P, const OuterOptions& options, std::int64_t steps_in_all, const char* inner = "adamw") {
  Trial trial{.program = diloco(options), .workers = P, .rows = 60, .features = 6};
  trial.training.optimizer.choose(inner);
  trial.stop.steps = steps_in_all;
  return trial;
}

/// Algorithm 1 of the paper in plain loops: AdamW inside, Nesterov's momentum outside.
struct DiLoCoLoops {
  const Trial& trial;
  OuterOptions options;
  data::Dataset set = trial.data().train;
  std::size_t P = static_cast<std::size_t>(trial.workers);
  std::vector<std::vector<double>> x = std::vector(P, std::vector<double>(6));
  std::vector<std::vector<double>> m = x;  ///< AdamW's averages of g, and of g squared
  std::vector<std::vector<double>> s = x;
  std::vector<double> theta = std::vector<double>(6);
  std::vector<double> u = theta;

  void inner_step(std::size_t r, std::int64_t t) {
    const double lr = trial.training.learning_rate;
    const std::int64_t rows = 60 / trial.workers;
    const auto g =
        gradient_of(trial, set, {static_cast<std::int64_t>(r) * rows, rows, {}}, x[r], 1.0 / static_cast<double>(rows));
    for (std::size_t i = 0; i < 6; ++i) {
      m[r][i] = 0.9 * m[r][i] + 0.1 * g[i];
      s[r][i] = 0.999 * s[r][i] + 0.001 * g[i] * g[i];
      const double m_hat = m[r][i] / (1.0 - std::pow(0.9, t));
      const double s_hat = s[r][i] / (1.0 - std::pow(0.999, t));
      x[r][i] = (1.0 - lr * 0.01) * x[r][i] - lr * m_hat / (std::sqrt(s_hat) + 1e-8);
    }
  }

  void outer_step() {
    for (std::size_t i = 0; i < 6; ++i) {
      double outer_gradient = 0.0;
      for (std::size_t r = 0; r < P; ++r) outer_gradient += (theta[i] - x[r][i]) / static_cast<double>(P);
      u[i] = options.momentum * u[i] + outer_gradient;
      theta[i] -= options.rate * (outer_gradient + options.momentum * u[i]);
    }
    x.assign(P, theta);
  }

  std::vector<double> mean() const {
    std::vector<double> sum(6);
    for (const auto& replica : x)
      for (std::size_t i = 0; i < 6; ++i) sum[i] += replica[i] / static_cast<double>(P);
    return sum;
  }
};

}  // namespace

TEST_CASE("DiLoCo with AdamW inside is Algorithm 1 in plain loops, at every step") {
  for (const int P : {1, 3, 4}) {
    const OuterOptions options{.H = 4};
    const Trial trial = diloco_trial(P, options, 18);
    const Outcome outcome = trial.run();
    DiLoCoLoops loops{trial, options};
    for (std::int64_t k = 1; k <= 18; ++k) {
      for (std::size_t r = 0; r < loops.P; ++r) loops.inner_step(r, k);
      if (k % options.H == 0) loops.outer_step();
      CAPTURE(P, k);
      const auto row = static_cast<std::size_t>(k);
      REQUIRE(relative_distance(outcome.evaluated[row], loops.mean()) < 1e-12);
      const double apart = outcome.record.curve[row].consensus_distance.value_or(0.0);
      if (P == 1 || k % options.H == 0)
        CHECK(apart == 0.0);
      else
        CHECK(apart > 1e-6);
    }
    CHECK(outcome.record.samples == 18 * 60);
  }
}

TEST_CASE("DiLoCo at outer rate 1 without momentum is local SGD, bit for bit") {
  for (const char* inner : {"sgd", "adamw"})
    for (const int P : {1, 3, 8}) {
      Trial trial = diloco_trial(P, {.H = 4, .rate = 1.0, .momentum = 0.0}, 22, inner);
      const Outcome outer = trial.run();
      trial.program = local_sgd(4);
      const Outcome averaged = trial.run();
      CAPTURE(inner, P);
      REQUIRE(outer.evaluated.size() == averaged.evaluated.size());
      CHECK(outer.evaluated == averaged.evaluated);
      CHECK(outer.record.bytes == averaged.record.bytes);
    }
}

TEST_CASE("DiLoCo with one local step of sgd is Nesterov's momentum on the whole gradient") {
  for (const int P : {1, 2, 3, 4}) {
    const OuterOptions options{.H = 1};
    Trial trial = diloco_trial(P, options, 30, "sgd");
    const Outcome outcome = trial.run();
    const data::Dataset set = trial.data().train;
    const double lr = trial.training.learning_rate;
    std::vector<double> w(6);
    std::vector<double> u(6);
    for (std::size_t k = 1; k <= 30; ++k) {
      const auto g = gradient_of(trial, set, {0, 60, {}}, w, 1.0 / 60.0);
      for (std::size_t i = 0; i < 6; ++i) {
        u[i] = 0.9 * u[i] + lr * g[i];
        w[i] -= 0.7 * (lr * g[i] + 0.9 * u[i]);
      }
      CAPTURE(P, k);
      REQUIRE(relative_distance(outcome.evaluated[k], w) < 1e-12);
    }
    // The optimizer nesterov at the product of the two rates makes the same steps.
    trial.program = ring_allreduce();
    trial.training.optimizer.choose("nesterov");
    trial.training.learning_rate = 0.7 * lr;
    CHECK(relative_distance(trial.run().final_parameters(), outcome.final_parameters()) < 1e-12);
  }
}

TEST_CASE("DiLoCo's replicas give the same result whichever allreduce averages them") {
  Trial trial = diloco_trial(4, {}, 12);
  const Outcome ring = trial.run();
  for (const char* algorithm : {"tree", "recursive_doubling", "rabenseifner"}) {
    trial.program = diloco({}, algorithm);
    CAPTURE(algorithm);
    CHECK(relative_distance(trial.run().final_parameters(), ring.final_parameters()) < 1e-12);
  }
}

TEST_CASE("a round of DiLoCo takes H (t_c + t_update) + T_allreduce + the mean's divisions + 7 d / speed") {
  for (const int P : {1, 2, 4}) {
    Trial trial = diloco_trial(P, {.H = 5}, 15);
    trial.features = 10'000;
    trial.training.numbers = false;
    const double d = 10'000;
    const double hops = P - 1;
    const double update = trial.training.optimizer->flops() * d / speed;
    const double ring = 2 * hops * alpha + 2 * hops / P * 8 * d / B + hops / P * d / speed;
    const double mean = P > 1 ? d / speed : 0.0;
    CAPTURE(P);
    CHECK(trial.run().record.simulated_s ==
          Approx(3 * (5 * (trial.gradient_s() + update) + ring + mean + 7 * d / speed)).epsilon(1e-9));
  }
}

TEST_CASE("DiLoCo restarts in the middle of a round as if nothing had been") {
  Trial trial = fragile(diloco({.H = 6}));  // checkpoints at 4, 8, 12, 16: all but 12 are inside a round
  trial.training.optimizer.choose("adamw");
  const Outcome undisturbed = trial.run();
  for (const std::size_t before : {5, 7, 10, 14, 18}) {
    const double at_s = undisturbed.record.curve[before].simulated_s + 0.5 * t_c;
    const Outcome outcome = with_crashes(trial, {crash(3, at_s)}).run();
    CAPTURE(before);
    check_sound(outcome.record);
    CHECK(outcome.record.simulated_s > undisturbed.record.simulated_s + repair_s);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

}  // namespace diloco_test

// Backup workers whose late gradients are given up: every step draws all its gradients anew.
#include <algorithm>
#include <cmath>

#include "cluster/stragglers/drawn.h"
#include "strategies/programs.h"

namespace backup_workers_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr double D = 0.1;       ///< nominal seconds of a gradient
constexpr double mean_s = 0.1;  ///< of the exponential time on top

/// Gradients take D + Exp(mean_s), everything else nothing.
Trial exponential(int P, std::int64_t backup_workers, strategies::Late late, std::int64_t steps) {
  Trial trial{
      .program = servers({.backup_workers = backup_workers, .late = late}), .workers = P, .rows = P, .features = 1};
  trial.flops_a_row = D * speed;
  trial.training.numbers = false;
  trial.stop.steps = steps;
  trial.evaluate.every_steps = 1;
  trial.cluster.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = 1e15, .latency_s = 0.0};
  trial.cluster.charge_reductions = false;
  auto stragglers = std::make_unique<cluster::ShiftedExponential>();
  stragglers->mean_s = mean_s;
  trial.cluster.stragglers = {cluster::stragglers(), std::move(stragglers)};
  return trial;
}

double drawn_s(const Trial& trial, int rank, std::int64_t step) {
  base::Stream stream({.seed = 1,
                       .purpose = base::Purpose::straggler,
                       .step = static_cast<std::uint64_t>(step),
                       .rank = static_cast<std::uint32_t>(rank)});
  return D + trial.cluster.stragglers->draw(stream).more_s;
}

/// The k-th smallest of a step's draws.
double kth_s(const Trial& trial, std::int64_t k, std::int64_t step) {
  std::vector<double> all;
  for (int rank = 0; rank < trial.workers; ++rank) all.push_back(drawn_s(trial, rank, step));
  std::ranges::sort(all);
  return all[static_cast<std::size_t>(k) - 1];
}

/// H_n - H_(n - k), and the same of squares: the mean and the variance of the k-th of n exponentials of mean 1.
double harmonic(int n, int k, int power) {
  double sum = 0.0;
  for (int i = n - k + 1; i <= n; ++i) sum += 1.0 / std::pow(i, power);
  return sum;
}

}  // namespace

TEST_CASE("with late gradients cancelled a step takes the k-th of n fresh draws") {
  constexpr std::int64_t steps = 200;
  const Trial trial = exponential(8, 1, strategies::Late::cancel, steps);
  const record::Record record = trial.run().record;
  REQUIRE(record.curve.size() == steps + 1);
  double end_s = 0.0;
  for (std::int64_t step = 0; step < steps; ++step) {
    end_s += kth_s(trial, 7, step);
    CHECK(record.curve[static_cast<std::size_t>(step) + 1].simulated_s == Approx(end_s).epsilon(1e-9));
  }
  CHECK(record.samples == 7 * steps);
}

TEST_CASE("the mean step with cancelled gradients is the order statistic of the shifted exponential") {
  struct Case {
    int workers;
    std::int64_t backup_workers;
    double expected_s;  // D + mean (H_n - H_(n - k))
  };
  for (const Case& each : {Case{8, 1, 0.271786}, Case{16, 1, 0.338073}, Case{50, 3, 0.366587}}) {
    constexpr std::int64_t steps = 800;
    const int k = each.workers - static_cast<int>(each.backup_workers);
    CHECK(D + mean_s * harmonic(each.workers, k, 1) == Approx(each.expected_s).epsilon(2e-6));
    Trial trial = exponential(each.workers, each.backup_workers, strategies::Late::cancel, steps);
    trial.evaluate.every_steps = steps;
    const double mean_step_s = trial.run().record.simulated_s / steps;
    const double deviation_s = mean_s * std::sqrt(harmonic(each.workers, k, 2) / steps);
    CAPTURE(each.workers, mean_step_s, deviation_s);
    CHECK(std::abs(mean_step_s - each.expected_s) < 4.0 * deviation_s);
    // Late workers that finish are late in the next step, too: 3 to 8 % longer.
    trial.program = servers({.backup_workers = each.backup_workers});
    const double finish_s = trial.run().record.simulated_s / steps;
    CHECK(finish_s > mean_step_s);
  }
}

TEST_CASE("a cancelled worker computes until the new parameters come, and sends nothing of its gradient") {
  constexpr std::int64_t steps = 50;
  Trial trial = exponential(4, 2, strategies::Late::cancel, steps);
  const record::Record record = trial.run().record;
  for (int rank = 0; rank < 4; ++rank) {
    double busy_s = 0.0;
    for (std::int64_t step = 0; step < steps; ++step)
      busy_s += std::min(drawn_s(trial, rank, step), kth_s(trial, 2, step));
    CHECK(record.ranks[static_cast<std::size_t>(rank)].compute_s == Approx(busy_s).epsilon(1e-9));
  }
  // Each step 2 pushes and 4 answers of 8 bytes, and 4 at the beginning; the end comes before the last answers.
  CHECK(record.messages >= 6 * steps);
  CHECK(record.messages <= 6 * steps + 4);
}

TEST_CASE("backup workers that cancel train on the first gradients of each step, from one server or two") {
  for (const std::int64_t shards : {1, 2}) {
    Trial trial{.program = servers({.shards = shards, .backup_workers = 1, .late = strategies::Late::cancel})};
    trial.cluster.relative_speeds = {1.0, 1.0, 0.01, 1.0};
    trial.stop.steps = 10;
    const Outcome outcome = trial.run();
    // Worker 2 is always late: a step is the mean over the rows of the others, 12 each of 48.
    std::vector<double> w(5, 0.0);
    for (std::int64_t step = 0; step < 10; ++step) {
      std::vector<double> g(w.size(), 0.0);
      for (const int rank : {0, 1, 3}) {
        const training::RowSet rows = trial.batches().rows({.step = step, .part = rank, .parts = trial.workers});
        const std::vector<double> part = gradient_of(trial, trial.data().train, rows, w, 1.0 / 36.0);
        for (std::size_t i = 0; i < w.size(); ++i) g[i] += part[i];
      }
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= trial.training.learning_rate * g[i];
    }
    CAPTURE(shards, outcome.record.error);
    CHECK(relative_distance(outcome.final_parameters(), w) < 1e-12);
  }
}

TEST_CASE("an update takes one gradient where crashes leave no more workers than backup workers") {
  for (const strategies::Late late : {strategies::Late::finish, strategies::Late::cancel})
    for (const bool median : {false, true}) {
      auto server = std::make_shared<strategies::ParameterServer>();
      server->backup_workers = 2;
      server->when_late = late;
      if (median) REQUIRE(server->reduce.choose("median"));
      Trial trial{.program = strategies::program(server), .workers = 3};
      trial.stop.steps = 10;
      trial.cluster.failures.recovery = cluster::Recovery::shrink;
      trial.cluster.failures.detection_s = 1e-9;
      for (const int rank : {1, 2}) {
        trial.cluster.failures.crashes.emplace_back();
        trial.cluster.failures.crashes.back().rank = rank;
        trial.cluster.failures.crashes.back().at_s = 1e-9;
      }
      const Outcome outcome = trial.run();
      // Worker 0 is left, with all rows.
      std::vector<double> w(5, 0.0);
      for (std::int64_t step = 0; step < 10; ++step) {
        const training::RowSet rows = trial.batches().rows({.step = step, .part = 0, .parts = 1});
        const std::vector<double> g =
            gradient_of(trial, trial.data().train, rows, w, 1.0 / static_cast<double>(trial.rows));
        for (std::size_t i = 0; i < w.size(); ++i) w[i] -= trial.training.learning_rate * g[i];
      }
      CAPTURE(late, median, outcome.record.error, outcome.record.samples);
      CHECK(outcome.record.error.empty());
      CHECK(outcome.record.steps == 10);
      CHECK(relative_distance(outcome.final_parameters(), w) < 1e-12);
    }
}

}  // namespace backup_workers_test

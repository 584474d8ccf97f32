// When a training looks at its losses, and what it sees.
#include <cmath>
#include <string>

#include "training/partitions/stream.h"
#include "training/plain_programs.h"

namespace evaluation_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;

namespace {

/// Mean loss of (x . w - y)^2 / 2 over all rows.
double loss_at(const data::Dataset& set, const std::vector<double>& w) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < set.rows; ++i) {
    double s = -set.targets[static_cast<std::size_t>(i)];
    for (std::size_t j = 0; j < w.size(); ++j) s += set.row(i)[j] * w[j];
    sum += s * s / 2.0;
  }
  return sum / static_cast<double>(set.rows);
}

}  // namespace

TEST_CASE("every_steps evaluates at its multiples, at step 0 and at the last step") {
  Trial trial = centiseconds();
  trial.stop.steps = 11;
  trial.evaluate.every_steps = 4;
  CHECK(steps_of(trial.run().record) == std::vector<std::int64_t>{0, 4, 8, 11});
  trial.evaluate.every_steps = 100;
  CHECK(steps_of(trial.run().record) == std::vector<std::int64_t>{0, 11});
}

TEST_CASE("every_s evaluates the present state at multiples of its period, and takes no virtual time") {
  Trial trial = centiseconds();
  trial.stop.steps = 5;
  trial.evaluate.every_s = 0.012;
  const record::Record record = trial.run().record;
  CHECK(record.simulated_s == Approx(0.05).epsilon(1e-12));
  // At 12, 24, 36 and 48 ms the states of steps 1, 2, 3 and 4 are there; and step 0 and the last.
  const std::vector<double> times{0.0, 0.012, 0.024, 0.036, 0.048, 0.05};
  REQUIRE(steps_of(record) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  for (std::size_t i = 0; i < times.size(); ++i) CHECK(record.curve[i].simulated_s == Approx(times[i]).epsilon(1e-12));
}

TEST_CASE("every_s and every_steps together evaluate at both") {
  Trial trial = centiseconds();
  trial.stop.steps = 4;
  trial.evaluate.every_s = 0.016;
  trial.evaluate.every_steps = 2;
  const record::Record record = trial.run().record;
  CHECK(steps_of(record) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(record.curve[1].simulated_s == Approx(0.016).epsilon(1e-12));
  CHECK(record.curve[2].simulated_s == Approx(0.02).epsilon(1e-12));
  CHECK(record.curve[3].simulated_s == Approx(0.032).epsilon(1e-12));
}

TEST_CASE("a period that is short beside a step does not make a run endless") {
  Trial trial = centiseconds();
  trial.flops_a_row = 1e14 / 48;  // one step of 1e5 s: 1e14 periods
  trial.stop.steps = 1;
  trial.evaluate.every_s = 1e-9;
  trial.training.numbers = false;
  const record::Record record = trial.run().record;
  CHECK(record.status == record::Status::stopped);
  CHECK(record.simulated_s == Approx(1e5).epsilon(1e-12));
  // 1e5 rows for 1e5 periods, then 1e4 rows for 2e4, 4e4, ...: 1e5 + 2e4 (2^k - 1) = 1e14 gives k = 32.2.
  CHECK(record.curve.size() > 100'000 + 32 * 10'000);
  CHECK(record.curve.size() < 100'000 + 33 * 10'000);
  CHECK(record.curve.back().step == 1);
  REQUIRE(record.notes.size() == 1);
  CHECK(record.notes.front() ==
        "the curve has 100000 rows: the interval of its evaluations doubles, and again after every 10000 rows");
}

TEST_CASE("how often one looks changes nothing but the curve") {
  Trial often = centiseconds();
  often.workers = 4;
  often.program = passing_on();
  often.stop.steps = 12;
  Trial seldom = often;
  seldom.evaluate.every_steps = 12;
  Trial by_time = often;
  by_time.evaluate.every_s = 0.0007;
  const Outcome reference = often.run();
  for (const Trial& trial : {seldom, by_time}) {
    const Outcome outcome = trial.run();
    CHECK(outcome.record.simulated_s == reference.record.simulated_s);
    CHECK(outcome.record.bytes == reference.record.bytes);
    CHECK(outcome.record.samples == reference.record.samples);
    CHECK(outcome.final_parameters() == reference.final_parameters());
    for (std::size_t r = 0; r < 4; ++r) {
      CHECK(outcome.record.ranks[r].compute_s == Approx(reference.record.ranks[r].compute_s).epsilon(1e-12));
      CHECK(outcome.record.ranks[r].wait_s == Approx(reference.record.ranks[r].wait_s).margin(1e-12));
    }
  }
}

TEST_CASE("a loss that is not finite ends the run as diverged, with the step in the notes") {
  Trial trial = centiseconds();
  trial.training.learning_rate = 1e60;
  trial.stop.steps = 100;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::diverged);
  CHECK(record.error.empty());
  CHECK(record.steps < 100);
  REQUIRE(record.notes.size() == 1);
  REQUIRE(record.diverged_step);
  CHECK(record.notes[0].starts_with("diverged at step " + std::to_string(*record.diverged_step) + ": the loss"));
  CHECK(!std::isfinite(*record.final_loss));
  CHECK(record.simulated_s == Approx(0.01 * static_cast<double>(record.steps)).epsilon(1e-12));
}

TEST_CASE("evaluations are the mean loss over the training set, or over the test set") {
  for (const auto on : {training::EvaluationSet::train, training::EvaluationSet::test}) {
    Trial trial = centiseconds();
    trial.test_rows = 31;
    trial.stop.steps = 6;
    trial.evaluate.on = on;
    const Outcome outcome = trial.run();
    const data::Split split = trial.data();
    const data::Dataset& set = on == training::EvaluationSet::train ? split.train : split.test;
    REQUIRE(outcome.evaluated.size() == 7);
    for (std::size_t k = 0; k < 7; ++k) {
      const double loss = loss_at(set, outcome.evaluated[k]);
      CHECK(*outcome.record.curve[k].loss == Approx(loss).epsilon(1e-13));
      double mean = 0.0;
      for (const double y : set.targets) mean += y / static_cast<double>(set.rows);
      double deviation = 0.0;
      for (const double y : set.targets) deviation += (y - mean) * (y - mean) / static_cast<double>(set.rows);
      CHECK(*outcome.record.curve[k].metric == Approx(1.0 - 2.0 * loss / deviation).epsilon(1e-12));  // r2
    }
  }
}

TEST_CASE("an evaluation of more rows than a piece holds is the mean over all of them") {
  Trial trial = centiseconds();
  trial.rows = 5000;
  trial.stop.steps = 1;
  trial.evaluate.every_steps = 1;
  const record::Record record = trial.run().record;
  CHECK(*record.curve[0].loss == Approx(loss_at(trial.data().train, std::vector<double>(5))).epsilon(1e-12));
}

TEST_CASE("the loss of replicas that differ is that of their mean, with their distance beside it") {
  // Each rank goes its own way with its own rows: w_r = lr g_r after one step from zero.
  Trial trial = centiseconds();
  trial.workers = 3;
  trial.stop.steps = 1;
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> replicas;
  std::vector<double> mean(5);
  for (int r = 0; r < 3; ++r) {
    auto w = gradient_of(trial, set, trial.batches().rows({0, r, 3}), std::vector<double>(5), 1.0 / 48.0);
    for (std::size_t i = 0; i < 5; ++i) mean[i] += (w[i] *= -trial.training.learning_rate) / 3.0;
    replicas.push_back(w);
  }
  double squares = 0.0;
  for (const auto& w : replicas)
    for (std::size_t i = 0; i < 5; ++i) squares += (w[i] - mean[i]) * (w[i] - mean[i]);
  CHECK(relative_distance(outcome.final_parameters(), mean) < 1e-14);
  CHECK(*outcome.record.final_loss == Approx(loss_at(set, mean)).epsilon(1e-13));
  CHECK(*outcome.record.curve[0].consensus_distance == 0.0);
  CHECK(*outcome.record.curve[1].consensus_distance == Approx(std::sqrt(squares / 3.0)).epsilon(1e-12));
}

TEST_CASE("a step is observed when the last rank has come to it") {
  Trial trial = centiseconds();
  trial.workers = 3;
  trial.rows = 48;
  trial.cluster.relative_speeds = {1.0, 0.5, 1.0};
  trial.stop.steps = 4;
  const record::Record record = trial.run().record;
  const double gradient_s = 0.01 / 3.0;
  for (const auto& row : record.curve)
    CHECK(row.simulated_s == Approx(2.0 * gradient_s * static_cast<double>(row.step)).epsilon(1e-12));
  CHECK(record.ranks[1].wait_s == Approx(0.0).margin(1e-12));
  // A rank that has finished before the training ends is waiting.
  CHECK(record.ranks[0].wait_s == Approx(4 * gradient_s).epsilon(1e-9));
  CHECK(record.ranks[0].compute_s == Approx(4 * gradient_s).epsilon(1e-9));
}

TEST_CASE("a timing-only run has no losses, no metric and no consensus, and takes the same time") {
  Trial trial = centiseconds();
  trial.workers = 4;
  trial.program = passing_on();
  trial.stop.steps = 5;
  const record::Record real = trial.run().record;
  trial.training.numbers = false;
  const record::Record timing = trial.run().record;
  CHECK(timing.simulated_s == real.simulated_s);
  CHECK(timing.bytes == real.bytes);
  CHECK(timing.curve.size() == real.curve.size());
  CHECK(!timing.final_loss);
  CHECK(timing.metric_name.empty());
  for (const auto& row : timing.curve) CHECK((!row.loss && !row.metric && !row.consensus_distance));
}

TEST_CASE("where rows come in, gradients are of the last of them and evaluations of those that come next") {
  Trial trial = centiseconds();
  trial.rows = 220;
  trial.batch = 20;  // the whole window, in some order
  training::Stream stream;
  stream.duration_s = 0.18;  // a row a millisecond
  stream.window = 20;
  trial.training.partition = base::Slot<training::Partition>(training::partitions(), "stream");
  dynamic_cast<training::Stream&>(*trial.training.partition.object()) = stream;
  trial.evaluate.on = training::EvaluationSet::next;
  trial.flops_a_row = 9.73e6 / 20;  // a step takes 9.73 ms
  trial.stop.steps = 10;
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  const auto part = [&](std::int64_t first) {
    data::Dataset some = set;
    some.rows = 20;
    some.features.assign(set.features.begin() + first * 5, set.features.begin() + (first + 20) * 5);
    some.targets.assign(set.targets.begin() + first, set.targets.begin() + first + 20);
    return some;
  };
  for (std::size_t k = 0; k <= 10; ++k) {
    const auto arrived = static_cast<std::int64_t>(20.0 + 9.73 * static_cast<double>(k));
    CAPTURE(k, arrived);
    CHECK(*outcome.record.curve[k].loss == Approx(loss_at(part(arrived), outcome.evaluated[k])).epsilon(1e-12));
    if (k == 10) break;
    std::vector<double> w = outcome.evaluated[k];
    const auto g = gradient_of(trial, set, {arrived - 20, 20, {}}, w, 1.0 / 20.0);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= trial.training.learning_rate * g[i];
    CHECK(relative_distance(outcome.evaluated[k + 1], w) < 1e-12);
  }
}

}  // namespace evaluation_test

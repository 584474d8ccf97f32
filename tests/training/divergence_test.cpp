// Losses beyond every use end a training as diverged; peaks, small first losses and harmless growth do not.
#include "training/session/divergence.h"

#include <cmath>

#include "training/plain_programs.h"

namespace divergence_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;
using training::Divergence;

namespace {

/// The number of the evaluation that ends the training; 0 if none does.
int ends_with(Divergence rule, const std::vector<double>& losses) {
  for (std::size_t k = 0; k < losses.size(); ++k)
    if (rule.ends(static_cast<std::int64_t>(k), losses[k])) return static_cast<int>(k) + 1;
  return 0;
}

std::optional<std::int64_t> beyond_use_with(Divergence rule, const std::vector<double>& losses) {
  for (std::size_t k = 0; k < losses.size(); ++k) rule.ends(static_cast<std::int64_t>(k), losses[k]);
  return rule.beyond_use_since();
}

Divergence with_zeros(double loss) {
  return Divergence([loss] { return std::optional(loss); });
}

}  // namespace

TEST_CASE("a last loss above 1000 times the first one is beyond use, a peak before it is not") {
  CHECK(beyond_use_with(with_zeros(0.5), {0.5, 40, 501}) == 2);
  CHECK(beyond_use_with(with_zeros(0.5), {0.5, 501, 40, 501, 600, 502}) == 3);  // the first of the last ones
  CHECK_FALSE(beyond_use_with(with_zeros(0.5), {0.5, 40, 499}));
  CHECK_FALSE(beyond_use_with(with_zeros(0.5), {0.5, 40, 501, 9000, 3}));
}

TEST_CASE("three evaluations in a row above 1e12 times the first loss, each above the one before, end the training") {
  CHECK(ends_with(with_zeros(0.5), {0.5, 40, 501e9, 502e9, 503e9}) == 5);
  CHECK(ends_with(with_zeros(0.5), {0.5, 40, 499e9, 500e9, 501e9, 502e9, 503e9}) == 7);
  // A peak from which the training recovers.
  CHECK(ends_with(with_zeros(0.5), {0.5, 600e9, 700e9, 650e9, 30, 0.4, 0.1}) == 0);
  CHECK(ends_with(with_zeros(0.5), {0.5, 600e9, 700e9, 650e9, 700e9, 750e9}) == 6);  // 650, 700, 750
}

TEST_CASE("a first loss near 0 is no measure, the loss of zeros is the least one") {
  CHECK_FALSE(beyond_use_with(with_zeros(0.5), {1e-9, 1e-5, 1e-4, 1e-3, 1e-2}));
  CHECK(beyond_use_with(with_zeros(0.5), {1e-9, 600}));
  // Without any loss to compare with nothing is said.
  CHECK_FALSE(beyond_use_with(with_zeros(0.0), {0.0, 1e6, 1e7, 1e8}));
}

TEST_CASE("the loss of zeros is asked for once, and only when the first loss is far exceeded") {
  int asked = 0;
  Divergence rule([&] {
    ++asked;
    return std::optional(1.0);
  });
  for (const double loss : {0.5, 400.0, 499.0}) rule.ends(0, loss);
  CHECK(asked == 0);
  for (const double loss : {501.0, 502.0, 503.0}) rule.ends(0, loss);
  CHECK_FALSE(rule.beyond_use_since());  // below 1000 x 1
  CHECK(asked == 1);
}

TEST_CASE("a run that grows beyond use is diverged with its step, by whichever rule it ends") {
  Trial trial = centiseconds();
  trial.stop.steps = 400;
  const double first = *trial.run().record.curve.front().loss;
  trial.training.learning_rate = 3.0;  // above 2 over the largest curvature of this problem
  const record::Record grown = trial.run().record;
  REQUIRE(grown.status == Status::diverged);
  REQUIRE(grown.curve.size() >= 3);
  const auto& last = grown.curve.back();
  CHECK(*last.loss > 1e12 * first);
  CHECK(std::isfinite(*last.loss));
  CHECK(last.step == grown.steps);
  CHECK(grown.steps < 400);
  REQUIRE(grown.notes.size() == 1);
  // The first of the last losses that are above 1000 times the first one, which is the loss of zeros, too.
  const auto before = std::find_if(grown.curve.rbegin(), grown.curve.rend(),
                                   [&](const record::Evaluation& each) { return !(*each.loss > 1e3 * first); });
  REQUIRE(before != grown.curve.rend());
  REQUIRE(grown.diverged_step);
  CHECK(*grown.diverged_step == before.base()->step);
  CHECK(*grown.diverged_step < grown.steps);
  CHECK(grown.notes[0].starts_with("diverged at step " + std::to_string(*grown.diverged_step) +
                                   ": the loss has grown from "));
  // One evaluation beyond use, at the last step, by steps and by time.
  trial.evaluate.every_steps = 1000;
  trial.stop.steps = grown.steps;
  CHECK(trial.run().record.status == Status::diverged);
  trial.stop.time_s = grown.simulated_s - 0.005;
  CHECK(trial.run().record.status == Status::diverged);
  // The loss of the step before the bound is passed is no divergence.
  trial.stop.time_s.reset();
  trial.stop.steps = 1;
  CHECK(trial.run().record.status == Status::stopped);
}

}  // namespace divergence_test

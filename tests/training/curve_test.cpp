// When a state is evaluated, and the row of the curve that it becomes.
#include "training/session/curve.h"

#include "training/session_parts.h"

namespace curve_test {

using namespace simgrad::tests;
using simgrad::training::Curve;
using simgrad::training::EvaluateOptions;

namespace {

EvaluateOptions every(std::optional<std::int64_t> steps, std::optional<double> s = {}) {
  EvaluateOptions options;
  options.every_steps = steps;
  options.every_s = s;
  return options;
}

Curve::Whole first_of(const std::vector<simgrad::values::Tensor>& replicas) { return {.w = replicas.front()}; }

}  // namespace

TEST_CASE("step 0, the last step and the state gone back to are evaluated, and every so many steps") {
  SessionParts parts;
  Curve curve(parts.learning, every(5), first_of);
  CHECK(curve.due(0, false));
  CHECK_FALSE(curve.due(3, false));
  CHECK(curve.due(3, true));
  CHECK(curve.due(10, false));
  curve.resume();
  CHECK(curve.due(3, false));
  curve.pass();
  CHECK_FALSE(curve.due(3, false));
}

TEST_CASE("by time alone no step is due") {
  SessionParts parts;
  const Curve curve(parts.learning, every({}, 0.5), first_of);
  CHECK(curve.due(0, false));
  CHECK_FALSE(curve.due(1, false));
}

TEST_CASE("the interval doubles after 100,000 rows, and again after every 10,000 more") {
  CHECK(Curve::stride(0) == 1);
  CHECK(Curve::stride(99'999) == 1);
  CHECK(Curve::stride(100'000) == 2);
  CHECK(Curve::stride(109'999) == 2);
  CHECK(Curve::stride(110'000) == 4);
  CHECK(Curve::stride(1'000'000'000'000) == std::int64_t{1} << 62);  // the largest power of 2 that fits
  SessionParts parts;
  Curve curve(parts.learning, every(3), first_of);
  curve.reach({0, {parts.state({0, 0, 0, 0}, 2).w}, 0});
  for (int row = 0; row < 100'000; ++row) curve.evaluate(0.0, 0);
  CHECK_FALSE(curve.due(9, false));  // 9 = 3 x 3
  CHECK(curve.due(9, true));
  CHECK(curve.due(12, false));
  CHECK(curve.next_period(7) == 8);
  CHECK(curve.next_period(8) == 10);
  for (int row = 0; row < 10'000; ++row) curve.evaluate(0.0, 0);
  CHECK_FALSE(curve.due(6, false));
  CHECK(curve.due(12, false));
  CHECK(curve.next_period(8) == 12);
}

TEST_CASE("an evaluation is a row with the step, the time and the samples, and the replicas' distance to their mean") {
  SessionParts parts;
  Curve curve(parts.learning, every(1), [](const auto& replicas) {
    const auto mean = simgrad::training::mean(replicas);
    return Curve::Whole{.w = mean, .replicas = replicas, .mean = mean};
  });
  CHECK_FALSE(curve.has_state());
  curve.reach({2, {parts.state({0, 0, 0, 0}, 2).w, parts.state({2, 2, 2, 2}, 2).w}, 24});
  CHECK_FALSE(curve.evaluated_latest());
  const auto& row = curve.evaluate(1.5, 24);
  CHECK(curve.evaluated_latest());
  CHECK(row.step == 2);
  CHECK(row.simulated_s == 1.5);
  CHECK(row.samples == 24);
  CHECK_FALSE(row.loss);                 // there are no data
  CHECK(row.consensus_distance == 2.0);  // sqrt of the mean over 2 replicas of 4 x 1
  CHECK(curve.take_rows().size() == 1);
}

}  // namespace curve_test

// The time, the money and the energy of a training, from its first steps.
#include "planner/pace.h"

#include "catch.h"

namespace pace_test {

using namespace simgrad::planner;

namespace {

/// Steps of 10 samples each that take so long.
Outcome of_steps(const std::vector<double>& seconds) {
  Outcome outcome{.usd = 2.0, .energy_j = 30.0};
  outcome.curve.push_back({});
  for (const double each : seconds) {
    outcome.time_s += each;
    outcome.samples += 10.0;
    outcome.curve.push_back({outcome.samples, outcome.time_s});
  }
  return outcome;
}

}  // namespace

TEST_CASE("Steps that repeat go on as they are") {
  const Outcome outcome = of_steps({3.0, 2.0, 2.0});
  const Pace pace(outcome, 1);
  CHECK(pace.repeats());
  CHECK(pace.covers(30.0));
  CHECK_FALSE(pace.covers(31.0));
  CHECK(pace.expected(100.0).time_s == Approx(3.0 + 9.0 * 2.0).epsilon(1e-12));
  CHECK(pace.least(100.0).time_s == pace.expected(100.0).time_s);
  CHECK(*pace.expected(100.0).usd == Approx(2.0 * 21.0 / 7.0).epsilon(1e-12));
  CHECK(*pace.expected(100.0).energy_j == Approx(30.0 * 21.0 / 7.0).epsilon(1e-12));
}

TEST_CASE("Rounds of several steps repeat as rounds") {
  const Outcome outcome = of_steps({1.0, 1.0, 4.0, 1.0, 1.0, 4.0});
  CHECK_FALSE(Pace(outcome, 1).repeats());
  const Pace pace(outcome, 3);
  CHECK(pace.repeats());
  CHECK(pace.expected(120.0).time_s == Approx(24.0).epsilon(1e-12));
}

TEST_CASE("What is simulated is taken from there") {
  const Outcome outcome = of_steps({3.0, 2.0, 5.0, 1.0});
  const Pace pace(outcome, 1);
  CHECK_FALSE(pace.repeats());
  CHECK(pace.expected(20.0).time_s == 5.0);
  CHECK(pace.least(20.0).time_s == 5.0);
  CHECK(pace.least(100.0).time_s < pace.expected(100.0).time_s);
}

}  // namespace pace_test

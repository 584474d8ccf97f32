// The samples that a training takes to its target, seen from its beginning.
#include "planner/learning_curve.h"

#include <cmath>

#include "catch.h"

namespace learning_curve_test {

using namespace simgrad::planner;

namespace {

/// A loss of exp(-rate x samples), seen up to `last` samples in 16 steps.
std::vector<Moment> exponential(double rate, double last) {
  std::vector<Moment> curve;
  for (int k = 0; k <= 16; ++k) {
    const double samples = last * k / 16.0;
    curve.push_back({samples, samples, std::exp(-rate * samples)});
  }
  return curve;
}

}  // namespace

TEST_CASE("A loss that falls exponentially is expected at the target where it gets there") {
  const auto to_target = samples_to_target(exponential(0.01, 100.0), std::exp(-5.0));
  CHECK(to_target.expected == Approx(500.0).epsilon(1e-12));
  CHECK(to_target.least == Approx(100.0 + 400.0 / 2.0).epsilon(1e-12));
}

TEST_CASE("A loss that slows down is expected later than its mean rate says, never earlier than seen") {
  std::vector<Moment> curve = exponential(0.05, 50.0);
  for (int k = 1; k <= 16; ++k) {
    const double samples = 50.0 + 50.0 * k / 16.0;
    curve.push_back({samples, samples, std::exp(-2.5 - 0.01 * (samples - 50.0))});
  }
  const auto to_target = samples_to_target(curve, std::exp(-5.0));
  CHECK(to_target.expected == Approx(100.0 + 200.0).epsilon(1e-9));
  CHECK(to_target.least == Approx(100.0 + 100.0).epsilon(1e-9));
}

TEST_CASE("A loss that does not fall is far from its target") {
  std::vector<Moment> curve;
  for (int k = 0; k <= 8; ++k) curve.push_back({10.0 * k, 1.0 * k, 0.7});
  const auto to_target = samples_to_target(curve, 0.1);
  CHECK(to_target.least == 80.0 + 400.0);
  CHECK(to_target.expected == 80.0 + 800.0);
}

}  // namespace learning_curve_test

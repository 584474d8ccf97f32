// Candidates among failures, compared seed by seed.
#include "planner/fleet_check.h"

#include <cmath>
#include <vector>

#include "catch.h"

namespace fleet_check_test {

using namespace simgrad;
using planner::difference_over_seeds;
using planner::FleetCheck;

namespace {

FleetCheck check_of(const std::vector<double>& times_s) {
  return {.time_s = outputs::interval(times_s), .times_s = times_s};
}

}  // namespace

TEST_CASE("Candidates among failures are compared seed by seed, and not by intervals that overlap") {
  const FleetCheck best = check_of({10.0, 14.0, 12.0, 16.0});
  const FleetCheck slower = check_of({10.1, 14.1, 12.1, 16.1});
  REQUIRE(slower.time_s.low < best.time_s.high);
  const outputs::Interval surely = difference_over_seeds(best, 13.0, slower, 13.1);
  CHECK(surely.mean == Approx(0.1).epsilon(1e-9));
  CHECK(surely.low == Approx(0.1).epsilon(1e-9));
  // Differences of 4, -3, 2, -2: mean 0.25, s = sqrt(32.75 / 3), t = 3.18245.
  const outputs::Interval by_chance = difference_over_seeds(best, 13.0, check_of({14.0, 11.0, 14.0, 14.0}), 13.25);
  CHECK(by_chance.mean == Approx(0.25).epsilon(1e-9));
  CHECK(by_chance.low == Approx(0.25 - 3.1824463 * std::sqrt(32.75 / 3.0) / 2.0).epsilon(1e-6));
}

TEST_CASE("Money among failures goes with time, and seeds that one side lacks are left out") {
  const FleetCheck best = check_of({1.0, 3.0}), other = check_of({2.0, 4.0, 6.0});
  // $8 at a mean of 2 s, $20 at a mean of 4 s: differences of 10 - 4 and 20 - 12.
  const outputs::Interval difference = difference_over_seeds(best, 8.0, other, 20.0);
  CHECK(difference.mean == Approx(7.0).epsilon(1e-9));
}

}  // namespace fleet_check_test

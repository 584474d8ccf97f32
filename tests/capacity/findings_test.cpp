// The answers of a study, against sums by hand.
#include "capacity/findings.h"

#include <cmath>

#include "catch.h"

namespace findings_test {

using namespace simgrad::capacity;

namespace {

/// A seed's server-hours: useful ones, and idle ones.
FleetOutcome hours(double useful, double idle) {
  FleetOutcome outcome;
  outcome.host_time.useful_s = 3600.0 * useful;
  outcome.host_time.idle_s = 3600.0 * idle;
  return outcome;
}

Goodput goodput_of(const std::vector<FleetOutcome>& of_seed) {
  Study study;
  study.work.resize(of_seed.size());
  study.fleet.push_back({.spares = 0, .of_seed = of_seed});
  return summaries(study).at(0).goodput;
}

/// The share whose logit is away from that of p by so much as the logit changes with p.
double moved_in_logit(double p, double by) { return 1.0 / (1.0 + (1.0 - p) / p * std::exp(-by / (p * (1.0 - p)))); }

}  // namespace

// A ratio of means and its interval: W. G. Cochran, Sampling Techniques, 1977, section 6.4, with Student's t; of its
// logit: L. D. Brown, T. T. Cai, A. DasGupta, Interval Estimation for a Binomial Proportion, 2001, section 4.1.
TEST_CASE("the goodput's interval is that of a ratio of means over the seeds") {
  const Goodput goodput = goodput_of({hours(60, 40), hours(50, 50), hours(70, 30)});
  CHECK(goodput.value == Approx(0.6).epsilon(1e-12));
  // The useful time is 0, -10 and 10 hours from 0.6 of all, and t is 4.302653 for two degrees of freedom.
  const double half = 4.302653 * 10 / std::sqrt(3.0) / 100;
  CHECK(goodput.low == Approx(moved_in_logit(0.6, -half)).epsilon(1e-6));
  CHECK(goodput.high == Approx(moved_in_logit(0.6, half)).epsilon(1e-6));
}

TEST_CASE("seeds with more server-hours weigh more in the goodput") {
  const Goodput goodput = goodput_of({hours(30, 20), hours(64, 36)});
  CHECK(goodput.value == Approx(94.0 / 150).epsilon(1e-12));
  // 30 - 50 x 94/150 = -4/3, and t is 12.7062 for one degree of freedom.
  CHECK(goodput.high == Approx(moved_in_logit(94.0 / 150, 12.7062 * 4.0 / 3 / 75)).epsilon(1e-5));
}

TEST_CASE("the goodput's interval is within 0 and 1, and one seed has none") {
  const Goodput wide = goodput_of({hours(1, 99), hours(99, 1)});
  CHECK((wide.low > 0.0 && wide.low < 0.001));
  CHECK((wide.high > 0.999 && wide.high < 1.0));
  CHECK(std::isnan(goodput_of({hours(1, 1)}).low));
}

}  // namespace findings_test

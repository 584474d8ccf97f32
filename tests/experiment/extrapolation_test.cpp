// The real time of a run, extrapolated from a part of it.
#include "experiment/run/extrapolation.h"

#include "catch.h"

namespace extrapolation_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

Moment at(double share, double processor_s, double elapsed_s, std::int64_t evaluations) {
  Moment moment{.pulse = {}, .elapsed_s = elapsed_s};
  moment.pulse.share = share;
  moment.pulse.processor_s = processor_s;
  moment.pulse.evaluations = evaluations;
  return moment;
}

}  // namespace

TEST_CASE("a slow start counts once, and the pace after it for all that is left") {
  // 2 s until the first of 100 steps is done, then 0.2 s each: 2 + 99 x 0.2. Two steps for the share of the first would
  // be 2.4 s / 0.03 = 80 s.
  const TimedTrial found = whole(at(0.01, 2.0, 2.0, 1), at(0.03, 2.4, 2.4, 3), 0);
  CHECK(found.real_s == Approx(2.0 + 99 * 0.2).epsilon(1e-12));
  CHECK(found.evaluations == Approx(1.0 + 99.0).epsilon(1e-12));
}

TEST_CASE("neither other processes on the processors nor the sum over threads is a run's real time") {
  // Half of the processor for the run.
  CHECK(whole(at(0.01, 1.0, 2.0, 1), at(0.02, 1.1, 2.2, 2), 0).real_s == Approx(1.0 + 99 * 0.1).epsilon(1e-12));
  // Two processors for its threads.
  CHECK(whole(at(0.01, 1.0, 1.0, 1), at(0.02, 1.4, 1.2, 2), 0).real_s == Approx(1.0 + 99 * 0.2).epsilon(1e-12));
}

TEST_CASE("a run that is looked at once is extrapolated from its start") {
  CHECK(whole({}, at(0.25, 3.0, 4.0, 5), 0).real_s == Approx(12.0).epsilon(1e-12));
}

TEST_CASE("the time of numbers, which another run may have computed, is their share of the trial") {
  Moment last = at(0.5, 1.0, 2.0, 3);  // half of a processor
  last.pulse.gradients_s = 0.8;
  last.pulse.evaluations_s = 0.2;
  CHECK(whole({}, last, 0).numbers_s == Approx(0.5 * 2.0).epsilon(1e-12));
  CHECK(whole({}, last, 2).numbers_s == Approx(0.25 * 2.0).epsilon(1e-12));
  const TimedTrial ended = complete(last, 1);
  CHECK((ended.ended && ended.real_s == 1.0 && ended.numbers_s == 0.5 && ended.evaluations == 3.0));
}

}  // namespace extrapolation_test

#include "training/learning/learning_rate_schedule.h"

#include <cmath>

#include "catch.h"
#include "training/options.h"

namespace learning_rate_schedule_test {

using namespace simgrad;

TEST_CASE("schedules: constant is 1, inverse_time is 1 / (1 + 0.01 k)") {
  const auto constant = training::learning_rate_schedules().find("constant")->make();
  const auto inverse = training::learning_rate_schedules().find("inverse_time")->make();
  for (const double k : {0.0, 1.0, 2.5, 100.0, 1e6}) {
    CHECK(constant->factor(k) == 1.0);
    CHECK(inverse->factor(k) == 1.0 / (1.0 + 0.01 * k));
  }
}

TEST_CASE("schedules: step is a tenth after every hundred steps, rounds of an asynchronous server included") {
  const auto step = training::learning_rate_schedules().find("step")->make();
  CHECK(step->factor(0) == 1.0);
  CHECK(step->factor(99.75) == 1.0);
  CHECK(step->factor(100) == Approx(0.1).epsilon(1e-12));
  CHECK(step->factor(250) == Approx(0.01).epsilon(1e-12));
}

TEST_CASE("schedules: cosine falls from 1 to its minimum in a thousand steps, and stays there") {
  const auto cosine = training::learning_rate_schedules().find("cosine")->make();
  // cos(pi / 3) = 1/2, cos(pi / 2) = 0
  CHECK(cosine->factor(0) == 1.0);
  CHECK(cosine->factor(1000.0 / 3) == Approx(0.75).epsilon(1e-12));
  CHECK(cosine->factor(500) == Approx(0.5).epsilon(1e-12));
  CHECK(cosine->factor(1000) == Approx(0.0).margin(1e-15));
  CHECK(cosine->factor(1e6) == Approx(0.0).margin(1e-15));
}

TEST_CASE("warm-up climbs linearly to the schedule's rate in any schedule, and then leaves it alone") {
  training::Options options;
  CHECK(options.rate_factor(0) == 1.0);
  for (const char* kind : {"constant", "inverse_time", "step", "cosine"}) {
    CAPTURE(kind);
    options.schedule.choose(kind);
    options.warmup_steps = 5;
    for (const double k : {0.0, 1.0, 3.5, 4.0, 5.0, 120.0})
      CHECK(options.rate_factor(k) == Approx(options.schedule->factor(k) * std::min(1.0, (k + 1) / 5)).epsilon(1e-14));
  }
}

TEST_CASE("the learning rate grows with the workers' batches, linearly or as their root, if it is told to") {
  training::Options options;
  options.learning_rate = 0.05;
  options.batch_size_per_worker = 32;
  CHECK(options.scaled_learning_rate(8 * 32) == 0.05);
  options.learning_rate_scaling = training::RateScaling::linear;
  CHECK(options.scaled_learning_rate(8 * 32) == Approx(8 * 0.05).epsilon(1e-15));
  CHECK(options.scaled_learning_rate(32) == 0.05);
  options.learning_rate_scaling = training::RateScaling::sqrt;
  CHECK(options.scaled_learning_rate(8 * 32) == Approx(std::sqrt(8.0) * 0.05).epsilon(1e-15));
}

}  // namespace learning_rate_schedule_test

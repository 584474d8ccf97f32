// Stages that are events take the times of those that are actors.
#include "serving/stage_events.h"

#include "catch.h"
#include "serving/served.h"

namespace serving_stage_events_test {

using namespace simgrad;
using namespace simgrad::tests;

std::vector<double> numbers(ServingTrial trial, bool actors) {
  trial.actors = actors;
  std::istringstream text(trial.numbers());
  std::vector<double> all;
  for (double number = 0.0; text >> number;) all.push_back(number);
  return all;
}

void check_equal(const ServingTrial& trial) {
  const std::vector<double> events = numbers(trial, false), actors = numbers(trial, true);
  REQUIRE(events.size() == actors.size());
  CHECK(std::cmp_greater(events.size(), 5 * *trial.options.requests));
  for (std::size_t i = 0; i < events.size(); ++i) {
    INFO("number " << i << ": " << events[i] << " by events, " << actors[i] << " by actors");
    CHECK(std::abs(events[i] - actors[i]) <= 1e-9 * std::abs(actors[i]));
  }
}

/// Sixty requests at random, which come faster than one after the other could be answered.
ServingTrial busy() {
  ServingTrial trial = at_once(60, 10, 12);
  trial.options.arrivals = serving::Arrivals::poisson;
  trial.options.rate_per_s = 1500.0;
  trial.options.lengths = serving::Lengths::geometric;
  trial.options.batch_size = 6;
  trial.options.warm_up_s = 0.002;
  trial.model->options.layers = 4;
  trial.model->options.sequence = 128;
  trial.alpha = 1e-5;
  return trial;
}

TEST_CASE("requests have the same times by events as by actors, however the model is cut") {
  for (const int pipeline : {1, 2, 4})
    for (const int tensor : {1, 2}) {
      ServingTrial trial = busy();
      trial.pipeline = pipeline;
      trial.tensor = tensor;
      trial.replicas = pipeline == 2 ? 2 : 1;
      INFO(pipeline << " stages, " << tensor << " tensor ranks");
      check_equal(trial);
    }
}

TEST_CASE("messages that wait for a stage, and stages that wait for messages, take the same times by events") {
  ServingTrial trial = busy();
  trial.pipeline = 4;
  SECTION("a slow stage, before which messages stand") { trial.relative_speeds = {1.0, 1.0, 0.2, 1.0}; }
  SECTION("a slow network") { trial.bandwidth = 2e6; }
  SECTION("a slow network to a slow stage") {
    trial.bandwidth = 2e6;
    trial.relative_speeds = {1.0, 0.1, 1.0, 1.0};
  }
  SECTION("prompts in chunks, and a straggler") {
    trial.options.prefill_chunk = 4;
    trial.slowdown = 3.0;
  }
  check_equal(trial);
}

TEST_CASE("the first rank of a later stage communicates while a message is on its way to it, by events and by actors") {
  ServingTrial trial = at_once(1, 10, 1);
  trial.pipeline = 2;
  trial.alpha = 1e-4;
  const double h = static_cast<double>(trial.shape().hidden);
  for (const bool actors : {false, true}) {
    trial.actors = actors;
    CHECK(trial.run().receiving_s == Approx(trial.alpha + 10.0 * h * 8.0 / trial.bandwidth).epsilon(1e-9));
  }
}

TEST_CASE("a run that takes longer than the watchdog allows ends with the rank and the time, by events") {
  ServingTrial trial = busy();
  trial.watchdog_s = 0.01;
  CHECK_THAT(trial.failure(),
             ContainsSubstring("rank 0 (step ") && ContainsSubstring("given up: simulated time has passed"));
  trial.pipeline = 4;
  CHECK_THAT(trial.failure(), ContainsSubstring("given up: simulated time has passed"));
}

}  // namespace serving_stage_events_test

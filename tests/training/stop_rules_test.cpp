// When a training stops, and the counts beside its curve.
#include "training/session/stop_rules.h"

#include "catch.h"
#include "training/session/tally.h"

namespace stop_rules_test {

using simgrad::training::StopOptions;
using simgrad::training::StopRules;
using simgrad::training::Tally;

namespace {

StopOptions at_most(std::optional<std::int64_t> steps, std::optional<std::int64_t> samples,
                    std::optional<double> epochs) {
  StopOptions options;
  options.steps = steps;
  options.samples = samples;
  options.epochs = epochs;
  return options;
}

/// The first last step.
std::int64_t last_of(const StopRules& rules) {
  std::int64_t step = 0;
  while (!rules.last_step(step)) ++step;
  return step;
}

}  // namespace

TEST_CASE("in lockstep samples and epochs are steps, rounded up, and the smallest limit counts") {
  constexpr std::int64_t rows = 100, batch = 30;
  CHECK(last_of({at_most(7, {}, {}), rows, batch}) == 7);
  CHECK(last_of({at_most({}, 91, {}), rows, batch}) == 4);   // ceil(91 / 30)
  CHECK(last_of({at_most({}, {}, 1.5), rows, batch}) == 5);  // 150 / 30
  CHECK(last_of({at_most(4, 600, 1.5), rows, batch}) == 4);
}

TEST_CASE("without lockstep the step with the last sample is the last, until ranks go back") {
  StopRules rules(at_most({}, 50, {}), 100, {});
  rules.count(3, 49);
  CHECK_FALSE(rules.last_step(1000));
  rules.count(4, 50);
  rules.count(6, 70);
  CHECK(last_of(rules) == 4);
  rules.restart();
  CHECK_FALSE(rules.last_step(1000));
}

TEST_CASE("the nearest limit tells how much of a training is done") {
  StopOptions options = at_most(10, {}, {});
  options.time_s = 4.0;
  options.loss = 0.5;
  const StopRules rules(options, 100, 30);
  CHECK(rules.share_done(2, 0, 1.0) == 0.25);  // max(2 / 10, 1 / 4)
  CHECK(rules.share_done(5, 0, 1.0) == 0.5);
  CHECK(rules.share_done(11, 0, 1.0) == 1.0);
  CHECK(rules.reached_target(0.5));
  CHECK_FALSE(rules.reached_target(0.6));
}

TEST_CASE("samples count when they are computed in lockstep, else when they are applied") {
  Tally lockstep(true), applied(false);
  for (Tally* tally : {&lockstep, &applied}) {
    tally->add_computed(5);
    tally->add_samples(2);
  }
  CHECK(lockstep.samples() == 7);
  CHECK(applied.samples() == 2);
}

TEST_CASE("stalenesses count until the end, and the eleventh failure is only counted") {
  Tally tally(false);
  for (const std::int64_t updates : {0, 3, 3}) tally.add_staleness(updates > 0 ? 1 : 0, updates);
  for (int i = 0; i < 12; ++i) tally.note_failure("rank 0 crashed");
  tally.end();
  tally.add_staleness(0, 100);
  simgrad::record::Record record;
  record.ranks.resize(3);
  tally.fill(record);
  CHECK(record.staleness_mean == 2.0);  // (0 + 3 + 3) / 3
  CHECK(record.staleness_max == 3.0);
  CHECK(record.ranks[0].staleness_mean == 0.0);
  CHECK(record.ranks[1].staleness_mean == 3.0);
  CHECK(!record.ranks[2].staleness_mean);
  CHECK(record.staleness_counts.at(3) == 2);
  CHECK(record.notes.size() == 11);
  CHECK(record.notes.back() == "and 2 more crashes and resumptions");
}

}  // namespace stop_rules_test

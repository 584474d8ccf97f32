// Strategies that are dropped at a grid point, and those that are not.
#include "experiment/run/race.h"

#include <cmath>

#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"
#include "outputs/statistics.h"

namespace race_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

const std::string two = ring_allreduce + "[[strategy]]\nkind = \"mapreduce\"\n";

/// A finished run that took so long for 100 samples.
outputs::Run finished(const RunPlan& plan, double simulated_s) {
  outputs::Run run;
  run.id = plan.id;
  run.label = plan.label;
  run.parameters = plan.parameters;
  run.seed = plan.seed;
  run.workers = plan.workers;
  run.record.status = record::Status::stopped;
  run.record.simulated_s = simulated_s;
  run.record.samples = 100;
  return run;
}

outputs::Run reached(outputs::Run run, double time_to_target_s) {
  run.record.status = record::Status::reached;
  run.record.time_to_target_s = time_to_target_s;
  return run;
}

}  // namespace

TEST_CASE("race: a strategy that is behind by nearly the same with each seed is dropped after three") {
  const Plan plan = planned(small + two, {.seeds = "1..6"});
  Race race(plan);
  const auto &ring = plan.runs.at(0), &slow = plan.runs.at(6);
  REQUIRE(ring.label != slow.label);
  const auto of = [&](const RunPlan& first, std::size_t seed) -> const RunPlan& { return *(&first + seed); };
  for (std::size_t seed = 0; seed < 3; ++seed) {
    CHECK(race.open(of(ring, seed)));
    CHECK_FALSE(race.finished(of(ring, seed), finished(of(ring, seed), 10.0 + static_cast<double>(seed))));
  }
  CHECK_FALSE(race.open(of(ring, 3)));  // the other strategy has not finished three
  const double behind[] = {5.0, 5.1, 4.9};
  for (std::size_t seed = 0; seed < 3; ++seed)
    CHECK(race.finished(of(slow, seed), finished(of(slow, seed), 10.0 + static_cast<double>(seed) + behind[seed])) ==
          (seed == 2));
  CHECK(race.open(of(ring, 3)));
  CHECK_FALSE(race.open(of(ring, 4)));
  CHECK_FALSE(race.dropped(of(ring, 3)));
  CHECK_FALSE(race.dropped(of(slow, 2)));
  CHECK(race.dropped(of(slow, 3)));
  const auto all = race.all_dropped();
  REQUIRE(all.size() == 1);
  CHECK(all[0].label == slow.label);
  CHECK(all[0].behind == ring.label);
  CHECK(all[0].seeds == 3);
  CHECK(all[0].seeds_left_out == 3);
  CHECK(all[0].number == "s_per_sample");
  // 0.05, 0.051 and 0.049 s a sample: mean 0.05, s = 0.001. Looks after 3, 4 and 5 seeds share the 5 %.
  const double half = outputs::student_t(2, 1.0 - 0.05 / 3.0) * 0.001 / std::sqrt(3.0);
  CHECK(*all[0].difference == Approx(0.05).epsilon(1e-9));
  CHECK(*all[0].difference_low == Approx(0.05 - half).epsilon(1e-9));
  CHECK(*all[0].difference_high == Approx(0.05 + half).epsilon(1e-9));
}

TEST_CASE("race: a strategy that is behind with most seeds stays as long as chance may decide") {
  const Plan plan = planned(small + two, {.seeds = "1..4"});
  Race race(plan);
  const double behind[] = {5.0, -4.0, 6.0};
  for (std::size_t seed = 0; seed < 3; ++seed) {
    race.finished(plan.runs[seed], finished(plan.runs[seed], 10.0));
    CHECK_FALSE(race.finished(plan.runs[4 + seed], finished(plan.runs[4 + seed], 10.0 + behind[seed])));
  }
  CHECK(race.open(plan.runs[3]));
  CHECK(race.open(plan.runs[7]));
  CHECK(race.all_dropped().empty());
}

TEST_CASE("race: a strategy that diverges with every seed is dropped without a number, at its grid point alone") {
  const Plan plan = planned(small + two, {.grids = {"cluster.latency=1us,2us"}, .seeds = "1..4"});
  Race race(plan);
  for (const RunPlan& run : plan.runs) {
    outputs::Run done = finished(run, 10.0);
    const bool first_point = run.parameters["cluster.latency"] == "1us";
    if (run.label == "mapreduce" && first_point) done.record.status = record::Status::diverged;
    if (run.seed <= 3) race.finished(run, done);
  }
  const auto all = race.all_dropped();
  REQUIRE(all.size() == 1);
  CHECK(all[0].parameters["cluster.latency"] == "1us");
  CHECK(all[0].label == "mapreduce");
  CHECK_FALSE(all[0].difference);
}

TEST_CASE("race: where there is a target, the time to it decides, and not the time per sample") {
  const Plan plan = planned(small + two, {.sets = {"stop.loss=0.1"}, .seeds = "1..4"});
  Race race(plan);
  for (std::size_t seed = 0; seed < 3; ++seed) {
    const double more = 0.1 * static_cast<double>(seed);
    // Slower per sample, and sooner at the target.
    race.finished(plan.runs[seed], reached(finished(plan.runs[seed], 20.0), 1.0 + more));
    CHECK(race.finished(plan.runs[4 + seed], reached(finished(plan.runs[4 + seed], 10.0), 3.0 + more)) == (seed == 2));
  }
  const auto all = race.all_dropped();
  REQUIRE(all.size() == 1);
  CHECK(all[0].label == plan.runs[4].label);
  CHECK(all[0].number == "time_to_target_s");
  CHECK(*all[0].difference == Approx(2.0).epsilon(1e-9));
}

TEST_CASE("race: a strategy that reaches the target with no seed is dropped, one that does with some stays") {
  const Plan plan = planned(small + two + single, {.sets = {"stop.loss=0.1"}, .seeds = "1..4"});
  Race race(plan);
  for (std::size_t seed = 0; seed < 3; ++seed) {
    race.finished(plan.runs[seed], reached(finished(plan.runs[seed], 10.0), 1.0));
    race.finished(plan.runs[4 + seed], finished(plan.runs[4 + seed], 10.0));
    const outputs::Run some = finished(plan.runs[8 + seed], 10.0);
    race.finished(plan.runs[8 + seed], seed == 0 ? some : reached(some, 5.0 + 0.1 * static_cast<double>(seed)));
  }
  const auto all = race.all_dropped();
  REQUIRE(all.size() == 1);
  CHECK(all[0].label == plan.runs[4].label);
  CHECK_FALSE(all[0].difference);
}

TEST_CASE("race: too few seeds, and jobs side by side, are refused") {
  CHECK_THROWS_WITH(Race(planned(small + two, {.seeds = "1..3"})),
                    "--race drops a strategy after 3 seeds at the earliest, but there are 3; give more, as in --seeds "
                    "1..10");
  CHECK_THROWS_WITH(Race(planned(small + two)),
                    "--race drops a strategy after 3 seeds at the earliest, but there is 1; give more, as in --seeds "
                    "1..10");
}

}  // namespace race_test

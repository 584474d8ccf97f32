// Whatever MapReduce's options, the numbers are those of plain MapReduce.
#include "strategies/mapreduce_programs.h"

namespace mapreduce_equivalence_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

Trial trial_of(const MapReduceOptions& options, int workers = 4) {
  Trial trial{.program = mapreduce(options), .workers = workers, .rows = 50, .features = 6};
  trial.batch = 31;
  trial.stop.steps = 40;
  trial.cluster.relative_speeds.assign(static_cast<std::size_t>(workers), 1.0);
  trial.cluster.relative_speeds.back() = 0.1;
  return trial;
}

std::vector<MapReduceOptions> all_options() {
  std::vector<MapReduceOptions> all;
  for (const bool combiner : {true, false})
    for (const int reducers : {1, 4})
      for (const int splits : {1, 3})
        for (const bool speculative : {false, true})
          if (splits > 1 || !speculative)
            all.push_back({.combiner = combiner,
                           .reducers = reducers,
                           .splits = splits,
                           .speculative = speculative,
                           .disk_bytes_per_s = combiner ? 0.0 : 1e8});
  for (const char* broadcast : {"binomial", "chain", "van_de_geijn"}) all.push_back({.broadcast = broadcast});
  return all;
}

}  // namespace

TEST_CASE("the parameters after every step do not depend on broadcast, combiner, reducers, splits, copies or disks") {
  for (const int workers : {1, 4}) {
    const Outcome plain = trial_of({}, workers).run();
    REQUIRE(plain.evaluated.size() == 41);
    for (const MapReduceOptions& options : all_options()) {
      const Outcome outcome = trial_of(options, workers).run();
      CAPTURE(options.broadcast, options.combiner, options.reducers, options.splits, options.speculative,
              outcome.record.error);
      REQUIRE(outcome.evaluated.size() == plain.evaluated.size());
      for (std::size_t k = 1; k < plain.evaluated.size(); ++k)
        REQUIRE(relative_distance(outcome.evaluated[k], plain.evaluated[k]) < 1e-12);
      CHECK(outcome.record.samples == plain.record.samples);
    }
  }
}

TEST_CASE("who maps which split changes no bit, and neither do threads") {
  const Outcome dealt = trial_of({.splits = 3}).run();
  for (const int threads : {0, 2})
    for (const bool speculative : {false, true})
      for (const double slow : {1.0, 0.3, 0.05}) {
        Trial trial = trial_of({.splits = 3, .speculative = speculative});
        trial.threads = threads;
        trial.cluster.relative_speeds = {slow, 1.0, 1.0, 1.0};
        CHECK(trial.run().evaluated == dealt.evaluated);
      }
}

TEST_CASE("a worker that crashes amid its splits is made up for") {
  for (const bool speculative : {false, true})
    for (const double at_s : {1e-4, 1.1e-3, 2.05e-3, 3.3e-3}) {
      const Outcome undisturbed = trial_of({.splits = 3, .speculative = speculative}).run();
      Trial trial = trial_of({.splits = 3, .speculative = speculative});
      trial.training.checkpoint_every_steps = 1;
      trial.cluster.failures.crashes.resize(1);
      trial.cluster.failures.crashes[0].rank = 1;
      trial.cluster.failures.crashes[0].at_s = at_s;
      trial.cluster.failures.crashes[0].repair_s = 1e-3;
      trial.cluster.failures.detection_s = 1e-3;
      const Outcome outcome = trial.run();
      CAPTURE(at_s, speculative, outcome.record.error);
      CHECK(outcome.record.error.empty());
      CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    }
}

}  // namespace mapreduce_equivalence_test

// Crashes while buckets are under way: the training goes on from its last checkpoint, to the same parameters.
#include <memory>
#include <string>
#include <vector>

#include "strategies/fragile.h"

namespace bucket_crashes_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

template <class Options>
training::Program in_buckets() {
  auto options = std::make_shared<Options>();
  options->bucket_bytes = 8.0;  // a layer each
  return strategies::program(options);
}

}  // namespace

TEST_CASE("a crash at any time of a step leaves a training in buckets the parameters that it would have had") {
  const std::vector<Named> all{{"parameter_server", in_buckets<strategies::ParameterServer>()},
                               {"byteps", in_buckets<strategies::BytePs>()},
                               {"mapreduce", in_buckets<strategies::MapReduce>()},
                               {"data_parallel", in_buckets<strategies::DataParallel>()},
                               {"gossip", in_buckets<strategies::Gossip>()},
                               {"local_sgd", in_buckets<strategies::LocalSgd>()}};
  for (const Named& one : all) {
    Trial trial = fragile(one.program);
    trial.layers = 4;
    const Outcome undisturbed = trial.run();
    REQUIRE(undisturbed.record.error.empty());
    const double step_s = undisturbed.record.simulated_s / steps;
    for (int part = 0; part < 12; ++part) {
      CAPTURE(one.name, part);
      const Outcome outcome = with_crashes(trial, {crash(part % 3 + 1, (5.0 + part / 12.0) * step_s)}).run();
      REQUIRE(outcome.record.error.empty());
      CHECK(outcome.record.simulated_s > undisturbed.record.simulated_s);
      CHECK(relative_distance(outcome.evaluated.back(), undisturbed.evaluated.back()) < 1e-12);
    }
  }
}

}  // namespace bucket_crashes_test

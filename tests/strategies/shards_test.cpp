// However the parameters are dealt to servers, the numbers are those of one server.
#include "strategies/programs.h"

namespace shards_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Placement;
using training::Sharding;

namespace {

Trial thirty_steps(training::Program program, int P) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 50, .features = 11};
  trial.batch = 20;
  trial.stop.steps = 30;
  trial.training.learning_rate = 0.02;
  trial.training.optimizer.choose("momentum");
  return trial;
}

}  // namespace

TEST_CASE("s shards give the numbers of one, bit for bit, by range and by hash, dedicated and colocated") {
  const Outcome one = thirty_steps(servers({}), 4).run();
  for (const auto sharding : {Sharding::range, Sharding::hash})
    for (const auto placement : {Placement::dedicated, Placement::colocated})
      for (const std::int64_t s : {2, 3, 4}) {
        CAPTURE(s, static_cast<int>(sharding), static_cast<int>(placement));
        const Outcome several =
            thirty_steps(servers({.shards = s, .placement = placement, .dealt_by = sharding}), 4).run();
        CHECK(several.record.error.empty());
        CHECK(several.evaluated == one.evaluated);
        CHECK(several.record.samples == one.record.samples);
      }
}

TEST_CASE("asp on one worker gives the sequential numbers on any number of servers") {
  const Outcome sequential = thirty_steps(single(), 1).run();
  for (const auto sharding : {Sharding::range, Sharding::hash}) {
    Trial trial = thirty_steps(servers({.consistency = Consistency::asp, .shards = 5, .dealt_by = sharding}), 1);
    trial.stop = {};
    trial.stop.samples = 30 * 20;
    const Outcome outcome = trial.run();
    CHECK(outcome.evaluated == sequential.evaluated);
    CHECK(outcome.record.steps == 30);
    CHECK(outcome.record.samples == 600);
    CHECK(outcome.record.staleness_max == 0.0);
  }
}

TEST_CASE("asp on shards gives the numbers of one server where computing decides who comes first, all counted once") {
  Trial trial = thirty_steps(servers({.consistency = Consistency::asp}), 3);
  trial.flops_a_row = 1e6;
  trial.cluster.relative_speeds = {1.0, 0.83, 0.61};
  const Outcome one = trial.run();
  trial.program = servers({.consistency = Consistency::asp, .shards = 3});
  const Outcome three = trial.run();
  CHECK(three.evaluated == one.evaluated);
  CHECK(three.record.samples == one.record.samples);
  CHECK(three.record.staleness_mean == one.record.staleness_mean);
}

TEST_CASE("asp on uneven shards ends at its samples, to the gradient") {
  for (const std::int64_t s : {2, 5}) {
    Trial trial = thirty_steps(servers({.consistency = Consistency::asp, .shards = s, .dealt_by = Sharding::hash}), 4);
    trial.stop = {};
    trial.stop.samples = 200;
    trial.cluster.relative_speeds = {1.0, 0.7, 0.4, 1.3};
    const record::Record record = trial.run().record;
    CAPTURE(s, record.error);
    CHECK(record.status == record::Status::stopped);
    CHECK(record.samples == 200);
    CHECK(record.steps == 40);  // 5 rows a gradient
    for (const auto& row : record.curve) CHECK(row.samples == 5 * row.step);
  }
}

}  // namespace shards_test

// A seed gives one run, bit for bit, however many threads compute its numbers.
#include "strategies/programs.h"

namespace determinism_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

/// Gradients of 60,000 flops and more: large enough for the dispatcher to hand them to its threads.
Trial sizeable(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 4000, .features = 40};
  trial.batch = 2000;
  trial.stop.samples = 20 * 2000;
  return trial;
}

void check_same(const record::Record& a, const record::Record& b) {
  REQUIRE(a.error.empty());
  REQUIRE(b.error.empty());
  CHECK(a.simulated_s == b.simulated_s);
  CHECK(a.steps == b.steps);
  CHECK(a.samples == b.samples);
  CHECK(a.bytes == b.bytes);
  CHECK(a.messages == b.messages);
  CHECK(a.staleness_mean == b.staleness_mean);
  REQUIRE(a.curve.size() == b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) {
    CHECK(a.curve[i].simulated_s == b.curve[i].simulated_s);
    CHECK(a.curve[i].loss == b.curve[i].loss);
    CHECK(a.curve[i].metric == b.curve[i].metric);
    CHECK(a.curve[i].consensus_distance == b.curve[i].consensus_distance);
  }
  REQUIRE(a.ranks.size() == b.ranks.size());
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    CHECK(a.ranks[r].compute_s == b.ranks[r].compute_s);
    CHECK(a.ranks[r].communicate_s == b.ranks[r].communicate_s);
    CHECK(a.ranks[r].wait_s == b.ranks[r].wait_s);
    CHECK(a.ranks[r].bytes_sent == b.ranks[r].bytes_sent);
  }
}

}  // namespace

TEST_CASE("losses, times and bytes are the same with 0, 1, 2 and 4 threads") {
  for (const auto& [name, program] : parallel_strategies()) {
    Trial trial = sizeable(program);
    CAPTURE(name);
    const Outcome reference = trial.run();
    for (const int threads : {1, 2, 4}) {
      trial.threads = threads;
      const Outcome outcome = trial.run();
      CAPTURE(threads);
      check_same(outcome.record, reference.record);
    }
  }
}

TEST_CASE("a run can be repeated bit for bit, and another seed gives another") {
  for (const auto& [name, program] : parallel_strategies()) {
    Trial trial = sizeable(program);
    CAPTURE(name);
    const Outcome once = trial.run();
    const Outcome again = trial.run();
    check_same(once.record, again.record);
    CHECK(once.evaluated == again.evaluated);
    trial.seed = 2;
    CHECK(trial.run().record.final_loss != once.record.final_loss);
  }
}

TEST_CASE("a timing-only run takes the same time and sends the same bytes") {
  for (const auto& [name, program] : parallel_strategies()) {
    Trial trial = sizeable(program);
    const record::Record real = trial.run().record;
    trial.training.numbers = false;
    const record::Record timing = trial.run().record;
    CAPTURE(name);
    CHECK(timing.simulated_s == real.simulated_s);
    CHECK(timing.bytes == real.bytes);
    CHECK(timing.messages == real.messages);
    CHECK(timing.samples == real.samples);
    CHECK(timing.steps == real.steps);
    CHECK(!timing.final_loss);
  }
}

}  // namespace determinism_test

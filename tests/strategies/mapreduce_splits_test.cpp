// Splits that are dealt as workers ask for them, and copies of the slowest, with one slow worker: time to nine digits.
#include "strategies/mapreduce_programs.h"

namespace mapreduce_splits_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t steps = 3;
constexpr double split_s = 1e-3;
constexpr std::int64_t d = 1000;
constexpr double M_s = 8.0 * d / B;

/// Four workers, the last at a fifth of the others' speed; twelve rows a batch, a millisecond each.
Trial one_slow(const MapReduceOptions& options) {
  Trial trial{.program = mapreduce(options), .workers = 4, .rows = 120, .features = d};
  trial.batch = 12;
  trial.flops_a_row = split_s * speed;
  trial.training.numbers = false;
  trial.stop.steps = steps;
  trial.cluster.relative_speeds = {1.0, 1.0, 1.0, 0.2};
  return trial;
}

void check_step(const Trial& trial, double step_s) {
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  CHECK(record.simulated_s == Approx(steps * step_s).epsilon(1e-9));
  CHECK(record.samples == steps * 12);
  CHECK(record.status == record::Status::stopped);
}

/// The parameters reach all workers at once.
constexpr double begin_s = alpha + 4 * M_s;
/// A split's work, its report, and the answer.
constexpr double turn_s = split_s + 2 * alpha;
/// Adding s sums, and the update.
constexpr double reduce_s(int s) { return (s + 2.0) * d / speed; }

}  // namespace

TEST_CASE("with one split a worker all wait for the slow one's three rows") {
  check_step(one_slow({}), begin_s + 15 * split_s + alpha + M_s + reduce_s(4));
}

TEST_CASE("with dynamic splits the slow worker maps one, while the others map eleven") {
  // Workers 0 to 2 map four, four and three in 4 turns; the slow one's is through after 5 ms. Then its report, the
  // answer, and its result alone.
  check_step(one_slow({.splits = 3}), begin_s + 5 * split_s + 2 * alpha + alpha + M_s + reduce_s(12));
}

TEST_CASE("an idle worker's copy of the slow split is through first") {
  // Two of the three map their last splits and the third the copy, all in the fourth turn; three results at once.
  check_step(one_slow({.splits = 3, .speculative = true}), begin_s + 4 * turn_s + alpha + 3 * M_s + reduce_s(12));
}

TEST_CASE("without stragglers a split costs 2 alpha beyond its work") {
  Trial trial = one_slow({.splits = 3});
  trial.cluster.relative_speeds.clear();
  // Results of the third turn are four at once; those before travelled meanwhile.
  check_step(trial, begin_s + 3 * turn_s + alpha + 4 * M_s + reduce_s(12));
}

TEST_CASE("two reducers have half of each result and of each sum") {
  Trial trial = one_slow({.reducers = 2, .splits = 3});
  trial.cluster.relative_speeds.clear();
  const double begin = alpha + 2 * M_s;
  check_step(trial, begin + 3 * turn_s + alpha + 2 * M_s + reduce_s(12) / 2);
}

TEST_CASE("where all are equally fast no split is copied: nobody computes beyond the own splits") {
  for (const bool speculative : {false, true}) {
    Trial trial = one_slow({.splits = 3, .speculative = speculative});
    trial.cluster.relative_speeds.clear();
    trial.batch = 37;  // one split has four rows, the others three
    const record::Record record = trial.run().record;
    REQUIRE(record.error.empty());
    double computed_s = 0.0;
    for (std::size_t worker = 0; worker < 4; ++worker) computed_s += record.ranks.at(worker).compute_s;
    CHECK(computed_s == Approx(steps * 37 * split_s).epsilon(1e-9));
    CHECK(record.samples == steps * 37);
  }
}

TEST_CASE("a copy that begins too late costs its worker's time, and no other") {
  // Workers 0 to 2 are through after four turns; the slow one after five splits, while a copy of its is being mapped.
  const record::Record record = one_slow({.splits = 3, .speculative = true, .slow_factor = 4.2}).run().record;
  CHECK(record.simulated_s == Approx(one_slow({.splits = 3}).run().record.simulated_s).epsilon(1e-9));
  double computed_s = 0.0;
  for (std::size_t worker = 0; worker < 3; ++worker) computed_s += record.ranks.at(worker).compute_s;
  CHECK(computed_s > steps * 11.1 * split_s);
  CHECK(computed_s <= steps * 12.0 * split_s);
}

TEST_CASE("a result that is dropped does not travel, and reports weigh nothing") {
  for (const bool speculative : {false, true}) {
    const record::Record record = one_slow({.splits = 3, .speculative = speculative}).run().record;
    // Four times the parameters and twelve sums a step.
    CHECK(record.bytes == steps * 16 * 8 * d);
  }
}

TEST_CASE("a copy that comes second, while the first's result still travels, is told so and sends nothing") {
  // Rank 2 maps split 6 from 1.7 to 3.3 ms; rank 0, idle at 3 ms, a copy of it until 4 ms, when rank 2's result, of 1
  // ms, and others still travel.
  Trial trial = one_slow({.splits = 2, .speculative = true});
  trial.features = 125'000;
  trial.batch = 8;
  trial.cluster.relative_speeds = {1.0, 1.0, 0.6, 0.1};
  const record::Record record = trial.run().record;
  CHECK(record.error.empty());
  CHECK(record.bytes == steps * 12 * 8 * trial.features);
  CHECK(record.samples == steps * 8);
}

TEST_CASE("splits without a combiner: every row's gradient travels") {
  Trial trial = one_slow({.combiner = false, .splits = 3});
  trial.batch = 24;
  trial.cluster.relative_speeds.clear();
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  CHECK(record.bytes == steps * (4 + 24) * 8 * d);
}

TEST_CASE("splits from a disk: each is read and its sum written before its report") {
  constexpr double D = 200e6;
  Trial trial = one_slow({.splits = 3, .disk_bytes_per_s = D});
  trial.cluster.relative_speeds.clear();
  const double disk_s = 2 * 8.0 * d / D;  // one row of d features, and one sum
  check_step(trial, begin_s + 3 * (turn_s + disk_s) + alpha + 4 * M_s + reduce_s(12) + (2 * 12 + 1) * 8.0 * d / D);
}

}  // namespace mapreduce_splits_test

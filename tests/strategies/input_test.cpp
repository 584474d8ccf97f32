// Rows that are read before they are computed on: how long a step takes then.
#include "strategies/fragile.h"

namespace input_test {

using namespace simgrad;
using namespace simgrad::tests;
using training::InputFrom;

namespace {

/// An allreduce of one number, five steps, gradients of g seconds a row; reading takes 100 bytes a row.
Trial reading(InputFrom from, double bandwidth, std::int64_t prefetch, int workers = 4) {
  Trial trial{.program = ring_allreduce(), .workers = workers, .rows = 48, .features = 1};
  trial.flops_a_row = 1e6;
  trial.stop.steps = 5;
  trial.cluster.charge_reductions = false;
  trial.training.input.from = from;
  trial.training.input.bytes_per_sample = 100;
  trial.training.input.bandwidth_bytes_per_s = bandwidth;
  trial.training.input.prefetch = prefetch;
  return trial;
}

/// A step without reading: twelve rows, then a ring of four that carries one number in one of its chunks.
double step_s(const Trial& trial) {
  const double P = trial.workers;
  return trial.gradient_s() + 2 * (P - 1) * (alpha + 8.0 / B);
}

}  // namespace

TEST_CASE("without prefetching every step reads its rows first") {
  const Trial trial = reading(InputFrom::local, 1e5, 0);
  const double read_s = 12 * 100 / 1e5;
  const record::Record record = trial.run().record;
  CHECK(record.simulated_s == Approx(5 * (read_s + step_s(trial))).epsilon(1e-9));
  CHECK(record.ranks[0].compute_s == Approx(5 * trial.gradient_s()).epsilon(1e-9));
}

TEST_CASE("with prefetching a step takes the longer of reading and of all else, once the first rows are there") {
  for (const double bandwidth : {1e4, 1e5, 1e6}) {
    const Trial trial = reading(InputFrom::local, bandwidth, 1);
    const double read_s = 12 * 100 / bandwidth;
    CAPTURE(bandwidth);
    CHECK(trial.run().record.simulated_s ==
          Approx(read_s + 4 * std::max(read_s, step_s(trial)) + step_s(trial)).epsilon(1e-9));
  }
}

TEST_CASE("four workers that read from one storage have a quarter of it each") {
  Trial trial = reading(InputFrom::shared, 1e5, 0);
  trial.features = 4;  // a number in each chunk, so that all workers end a step, and begin to read, at one time
  trial.training.input.latency_s = 1e-3;
  const double read_s = 1e-3 + 48 * 100 / 1e5;
  CHECK(trial.run().record.simulated_s == Approx(5 * (read_s + step_s(trial))).epsilon(1e-9));
  Trial alone = reading(InputFrom::shared, 1e5, 0, 1);
  CHECK(alone.run().record.simulated_s == Approx(5 * (48 * 100 / 1e5 + alone.gradient_s())).epsilon(1e-9));
}

TEST_CASE("parsing and scaling take a rank's time after every reading") {
  Trial trial = reading(InputFrom::local, 1e5, 0);
  trial.training.input.flops_per_sample = 2e5;
  const double read_s = 12 * 100 / 1e5, derived_s = 12 * 2e5 / speed;
  const record::Record record = trial.run().record;
  CHECK(record.simulated_s == Approx(5 * (read_s + derived_s + step_s(trial))).epsilon(1e-9));
  CHECK(record.ranks[0].parts[record::TimePart::compute_other] == Approx(5 * derived_s).epsilon(1e-9));
}

TEST_CASE("cached rows are read and derived once, all of a worker's part, and again where a worker comes back") {
  for (const InputFrom from : {InputFrom::local, InputFrom::shared}) {
    Trial trial = reading(from, 1e5, 0);
    trial.features = 4;  // all workers end a step at one time
    trial.batch = 24;
    trial.training.input.prefetch.reset();
    trial.training.input.cache = true;
    trial.training.input.latency_s = 1e-3;
    trial.training.input.flops_per_sample = 2e5;
    trial.training.checkpoint_every_steps = 1;
    const double alone_s = 1e-3 + 12 * 100 / 1e5, derived_s = 12 * 2e5 / speed;
    const double all_s = from == InputFrom::shared ? 1e-3 + 48 * 100 / 1e5 : alone_s;
    CHECK(trial.run().record.simulated_s == Approx(all_s + derived_s + 5 * step_s(trial)).epsilon(1e-9));
    const double lost_s = 0.5 * trial.gradient_s() + repair_s, again_s = alone_s + derived_s;
    const double first_at = all_s + derived_s + step_s(trial) + 0.5 * trial.gradient_s();
    const double second_at = first_at + repair_s + again_s + 2 * step_s(trial) + 0.5 * trial.gradient_s();
    trial.cluster.failures.detection_s = detection_s;
    const record::Record record = with_crashes(trial, {crash(1, first_at), crash(3, second_at)}).run().record;
    REQUIRE(record.error.empty());
    CHECK(record.simulated_s == Approx(all_s + derived_s + 2 * (lost_s + again_s) + 5 * step_s(trial)).epsilon(1e-9));
  }
}

TEST_CASE("reading changes no number") {
  Trial trial = reading(InputFrom::shared, 1e5, 2);
  const Outcome read = trial.run();
  trial.training.input = {};
  CHECK(read.evaluated == trial.run().evaluated);
  trial = reading(InputFrom::local, 1e5, 0);
  trial.training.input.cache = true;
  CHECK(read.evaluated == trial.run().evaluated);
}

TEST_CASE("a worker that comes back reads its rows again") {
  Trial trial = reading(InputFrom::shared, 1e5, 1);
  trial.cluster.failures.crashes.resize(1);
  trial.cluster.failures.crashes[0].rank = 0;  // on whose host the shared disk is, for SimGrid
  trial.cluster.failures.crashes[0].at_s = 0.1;
  trial.cluster.failures.crashes[0].repair_s = 0.01;
  const record::Record record = trial.run().record;
  CHECK(record.error.empty());
  CHECK(record.steps == 5);
}

}  // namespace input_test

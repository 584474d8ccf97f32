// The parts of each rank's time: computing by its work, storage apart from the network, waiting by its cause.
#include "strategies/fragile.h"
#include "strategies/mapreduce_programs.h"

namespace time_parts_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::TimePart;

namespace {

constexpr std::int64_t made = 4;  // steps

Trial timed(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 4000, .features = 1000};
  trial.training.numbers = false;
  trial.stop.steps = made;
  return trial;
}

void check_part(const record::RankUse& rank, TimePart part, double expected_s) {
  CAPTURE(record::field_name(part));
  CHECK(rank.parts[part] == Approx(expected_s).epsilon(1e-9).margin(1e-12));
}

/// All waiting has one cause.
void check_waits(const record::RankUse& rank, TimePart cause, double expected_s) {
  check_part(rank, cause, expected_s);
  CHECK(rank.wait_s == Approx(expected_s).epsilon(1e-9).margin(1e-12));
}

}  // namespace

TEST_CASE("computing is divided into gradients, sums and updates") {
  const Trial trial = timed(ring_allreduce());
  const record::Record record = trial.run().record;
  for (const record::RankUse& rank : record.ranks) {
    check_part(rank, TimePart::compute_gradient, made * trial.gradient_s());
    check_part(rank, TimePart::compute_reduction, made * 0.75 * 1000 / speed);  // (P-1)/P d additions
    check_part(rank, TimePart::compute_update, made * 2.0 * 1000 / speed);
    check_part(rank, TimePart::compute_other, 0.0);
    check_part(rank, TimePart::communicate_storage, 0.0);
  }
}

TEST_CASE("those who wait for a slow worker wait for its gradient, in collectives and at a server") {
  for (const auto collectives : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
    Trial trial = timed(ring_allreduce());
    trial.cluster.collectives = collectives;
    trial.cluster.charge_reductions = false;
    trial.cluster.relative_speeds = {1.0, 1.0, 0.5};
    const record::Record record = trial.run().record;
    for (const std::size_t r : {0u, 1u, 3u})
      check_waits(record.ranks[r], TimePart::wait_gradient, record.ranks[r].wait_s);
    CHECK(record.ranks[0].wait_s > 0.5 * static_cast<double>(made) * trial.gradient_s());
  }
  Trial trial = timed(parameter_server(Consistency::bsp));
  trial.cluster.charge_reductions = false;
  trial.cluster.relative_speeds = {1.0, 1.0, 0.5};
  const record::Record record = trial.run().record;
  // The fast ones' gradients take t_c and their push; the slow one's 2 t_c, and its push is another wait for a
  // transfer.
  const double M = trial.message_bytes(), t_c = trial.gradient_s();
  check_part(record.ranks[0], TimePart::wait_gradient, made * (t_c - alpha - 3 * M / B));
  check_part(record.ranks[0], TimePart::wait_transfer, made * (alpha + M / B));
  check_part(record.ranks[4], TimePart::wait_gradient, made * (t_c + t_c - alpha - 3 * M / B));
}

TEST_CASE("workers wait for the processor of a server that sums") {
  const Trial trial = timed(parameter_server(Consistency::bsp));
  const record::Record record = trial.run().record;
  const double summing = 6.0 * 1000 / speed;  // four gradients, and 2 d for the update
  for (std::size_t r = 0; r < 4; ++r) check_waits(record.ranks[r], TimePart::wait_server, made * summing);
  check_waits(record.ranks[4], TimePart::wait_gradient, made * trial.gradient_s());
}

TEST_CASE("a disk is neither processor nor network, and those who wait for it wait for a storage") {
  constexpr double D = 1e6;
  const Trial trial = timed(mapreduce({.disk_bytes_per_s = D}));
  const record::Record record = trial.run().record;
  const double M = trial.message_bytes();
  const double worker_disk = (1000 * 8.0 * 1000 + M) / D, reducer_disk = (2 * 4 * M + M) / D;
  const double reducing = 6.0 * 1000 / speed;
  for (std::size_t r = 0; r < 4; ++r) {
    check_part(record.ranks[r], TimePart::communicate_storage, made * worker_disk);
    check_part(record.ranks[r], TimePart::wait_storage, made * reducer_disk);
    check_part(record.ranks[r], TimePart::wait_server, made * reducing);
    CHECK(record.ranks[r].compute_s == Approx(made * trial.gradient_s()).epsilon(1e-9));
  }
  check_part(record.ranks[4], TimePart::communicate_storage, made * reducer_disk);
  check_part(record.ranks[4], TimePart::wait_storage, made * worker_disk);
  check_part(record.ranks[4], TimePart::wait_gradient, made * trial.gradient_s());
}

TEST_CASE("rows that are read from a shared storage are no transfers") {
  constexpr double D = 1e9;
  Trial trial = timed(ring_allreduce());
  trial.training.input.from = training::InputFrom::shared;
  trial.training.input.bandwidth_bytes_per_s = D;
  trial.training.input.prefetch = 0;
  const record::Record record = trial.run().record;
  const double reading = 4 * 1000 * 8.0 * 1000 / D;  // four workers share it
  const double sending = 6 * (alpha + trial.message_bytes() / 4 / B);
  for (const record::RankUse& rank : record.ranks) {
    check_part(rank, TimePart::communicate_input, made * reading);
    check_part(rank, TimePart::communicate_storage, 0.0);
    check_part(rank, TimePart::communicate_checkpoint, 0.0);
    check_part(rank, TimePart::communicate_transfer, made * sending);
  }
}

TEST_CASE("the others wait for the rank that writes a checkpoint") {
  constexpr double D = 1e6;
  Trial trial = timed(ring_allreduce());
  trial.stop.steps = 5;
  trial.training.checkpoint_every_steps = 2;
  trial.cluster.storage_bandwidth_bytes_per_s = D;
  trial.training.input.from = training::InputFrom::local;
  trial.training.input.bandwidth_bytes_per_s = 1e12;
  trial.training.input.prefetch = 0;
  const record::Record record = trial.run().record;
  const double writing = 2 * trial.message_bytes() / D;  // after steps 2 and 4
  check_part(record.ranks[0], TimePart::communicate_checkpoint, writing);
  check_part(record.ranks[0], TimePart::communicate_input, 5 * 1000 * 8.0 * 1000 / 1e12);
  check_part(record.ranks[0], TimePart::communicate_storage, 0.0);
  // Rank 3 receives its first chunk before it waits for rank 0 to take one.
  const double hop = alpha + trial.message_bytes() / 4 / B;
  for (const std::size_t r : {1u, 2u, 3u})
    check_waits(record.ranks[r], TimePart::wait_checkpoint, writing - (r == 3 ? 2 * hop : 0.0));
}

TEST_CASE("a restart is waited for from the loss of a rank to the end of the restart time") {
  constexpr double restart_s = 0.02;
  Trial trial = fragile(ring_allreduce());
  trial.cluster.failures.restart_time_s = restart_s;
  const double at_s = 10 * ring_s + 0.5 * t_c;  // in the gradient of step 11
  const record::Record record = with_crashes(trial, {crash(3, at_s)}).run().record;
  check_sound(record);
  check_part(record.ranks[3], TimePart::down, repair_s);
  check_waits(record.ranks[3], TimePart::wait_recovery, restart_s);
  check_waits(record.ranks[0], TimePart::wait_recovery, repair_s + restart_s - 0.5 * t_c);
}

}  // namespace time_parts_test

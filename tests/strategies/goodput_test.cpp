// Cost and benefit of checkpoints, and the work that a crash makes worthless.
#include <fmt/format.h>

#include "cluster/failures/processes.h"
#include "strategies/fragile.h"
#include "training/checkpoint_efficiency.h"
#include "training/checkpoints/checkpoint_clock.h"

namespace goodput_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr double storage_B = 1e5;
constexpr double written_s = M / storage_B;  // 64 bytes

Trial with_storage(training::Program program) {
  Trial trial = fragile(std::move(program));
  trial.cluster.storage_bandwidth_bytes_per_s = storage_B;
  return trial;
}

}  // namespace

TEST_CASE("a checkpoint takes its bytes over the storage's bandwidth, and all wait for it") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    Trial trial = with_storage(program);
    const Outcome outcome = trial.run();
    check_sound(outcome.record);
    CHECK(outcome.record.simulated_s == Approx(steps * step_s + 4 * written_s).epsilon(1e-9));  // 4, 8, 12, 16
    CHECK(*outcome.record.checkpoint_s == Approx(4 * written_s).epsilon(1e-9));
    CHECK(*outcome.record.goodput == Approx(1 - 4 * written_s / outcome.record.simulated_s).epsilon(1e-9));
    trial.training.optimizer.choose("adam");
    const double adam_s = (trial.training.optimizer->flops() - 2) * parts_d / speed;
    CHECK(trial.run().record.simulated_s == Approx(steps * (step_s + adam_s) + 4 * 3 * written_s).epsilon(1e-9));
  }
}

TEST_CASE("a restart reads the checkpoint after the restart time, and the record says what was lost") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    Trial trial = with_storage(program);
    trial.cluster.failures.restart_time_s = 0.02;
    const double at_s = 9 * step_s + 2 * written_s + communicating_s;
    const Outcome outcome = with_crashes(trial, {crash(2, at_s)}).run();
    check_sound(outcome.record);
    const double restart_s = 0.02 + written_s;
    CHECK(outcome.record.simulated_s ==
          Approx(at_s + repair_s + restart_s + 12 * step_s + 2 * written_s).epsilon(1e-9));
    CHECK(outcome.record.crashes == 1);
    CHECK(*outcome.record.lost_s == Approx(step_s + communicating_s).epsilon(1e-9));
    CHECK(*outcome.record.recovery_s == Approx(repair_s + restart_s).epsilon(1e-9));
    CHECK(*outcome.record.checkpoint_s == Approx(4 * written_s).epsilon(1e-9));
    CHECK(*outcome.record.goodput == Approx(steps * step_s / outcome.record.simulated_s).epsilon(1e-9));
  }
}

TEST_CASE("useful, lost, recovering and checkpoint seconds add up, whenever in a run a host crashes") {
  // Crashes of rank 0, which writes, and of rank 2, whose loss rank 0 notices after it has written.
  for (const int rank : {0, 2})
    for (int k = 1; k < 60; ++k) {
      Trial trial = with_storage(ring_allreduce());
      trial.cluster.failures.restart_time_s = 0.02;
      const double at_s = 0.7 * ring_s * k / 2.0;
      CAPTURE(rank, at_s);
      const record::Record record = with_crashes(trial, {crash(rank, at_s), crash(1, at_s + 0.1)}).run().record;
      check_sound(record);
      const double useful_s = record.simulated_s - *record.lost_s - *record.recovery_s - *record.checkpoint_s;
      CHECK(useful_s == Approx(steps * ring_s).epsilon(1e-9));
    }
}

TEST_CASE("by time, the first step after the interval is kept") {
  Trial trial = with_storage(ring_allreduce());
  trial.training.checkpoint_every_steps = 0;
  trial.training.checkpoint_every = fmt::format("{}s", 2.5 * ring_s);  // so every third step
  const Outcome outcome = trial.run();
  CHECK(*outcome.record.checkpoint_s == Approx(6 * written_s).epsilon(1e-9));
  CHECK(outcome.record.simulated_s == Approx(steps * ring_s + 6 * written_s).epsilon(1e-9));
}

TEST_CASE("the goodput is the exact efficiency of checkpoints under exponential failures") {
  Trial trial = with_storage(single());
  trial.workers = 1;
  trial.training.numbers = false;
  trial.evaluate.every_steps = 1'000'000;
  trial.stop.steps = 60000;
  const double step_s = trial.gradient_s() + 2 * parts_d / speed;
  const double C = 4 * step_s, T = 200 * step_s, R = C + 3 * step_s;
  trial.cluster.storage_bandwidth_bytes_per_s = M / C;
  trial.cluster.failures.detection_s = 0.0;
  trial.cluster.failures.restart_time_s = 3 * step_s;
  auto process = std::make_unique<cluster::ExponentialFailures>();
  process->mean_s = T;
  trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
  auto repair = std::make_unique<cluster::ConstantRepair>();
  repair->time_s = 0.0;
  trial.cluster.failures.repair = base::Slot<cluster::Repair>(cluster::repairs(), std::move(repair));
  double best = 0.0;
  for (const int every : {10, 20, 40, 80, 160}) {
    CAPTURE(every);
    trial.training.checkpoint_every_steps = every;
    const Outcome outcome = trial.run();
    check_sound(outcome.record);
    const double exact = checkpoint_efficiency(every * step_s, T, C, R);
    const double runs = static_cast<double>(*outcome.record.crashes);
    CHECK(*outcome.record.goodput == Approx(exact).margin(3.5 * (1 - exact) / std::sqrt(runs)));
    CHECK(*outcome.record.goodput == Approx(60'000 * step_s / outcome.record.simulated_s).epsilon(2e-3));
    best = std::max(best, *outcome.record.goodput);
  }
  trial.training.checkpoint_every_steps = 0;
  trial.training.checkpoint_every = "daly";  // some 38 steps
  CHECK(*trial.run().record.goodput > best - 0.02);
}

TEST_CASE("a checkpoint that takes longer than the MTBF is told, and the run ends") {
  Trial trial = with_storage(ring_allreduce());
  trial.cluster.storage_bandwidth_bytes_per_s = M / 0.1;
  trial.training.checkpoint_every_steps = 1;
  auto process = std::make_unique<cluster::ExponentialFailures>();
  process->mean_s = 0.02;
  trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
  auto repair = std::make_unique<cluster::ConstantRepair>();
  repair->time_s = 1e-3;
  trial.cluster.failures.repair = base::Slot<cluster::Repair>(cluster::repairs(), std::move(repair));
  const Outcome outcome = trial.run();
  CHECK(outcome.record.notes.front().find("shorter than writing a checkpoint") != std::string::npos);
  CHECK(outcome.record.status == record::Status::failed);
  CHECK(outcome.record.error.find("no progress") != std::string::npos);
}

TEST_CASE("the MTBF of the job is of the hosts that fail, and of no others") {
  Trial trial = with_storage(parameter_server(Consistency::bsp));  // 4 workers and a server
  trial.cluster.failures.market = cluster::Market::spot;
  trial.cluster.failures.spot.interruption_s = 1000.0;
  trial.training.checkpoint_every_steps = 0;
  trial.training.checkpoint_every = "young";
  CHECK(trial.run().record.notes.front().find("MTBF of the job 250 s") != std::string::npos);
  trial.cluster.failures.spot.only_class = "none has it";
  CHECK(trial.run().record.notes.empty());
}

TEST_CASE("what a rank's work under way was worth to those that go on without it is not known") {
  Trial trial = with_crashes(fragile(parameter_server(Consistency::asp)), {crash(1, 0.01)}, Recovery::keep_going);
  const Outcome outcome = trial.run();
  check_sound(outcome.record);
  CHECK(outcome.record.crashes == 1);
  CHECK_FALSE(outcome.record.lost_s);
  CHECK_FALSE(outcome.record.goodput);
}

TEST_CASE("after a restart the state has seen the steps' batches, and lost work is not among them") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    CHECK(trial.run().record.samples_seen == steps * trial.rows);
    // In step 10: two steps since the checkpoint of step 8 are done again, and the one that was interrupted.
    const double at_s = 9 * step_s + communicating_s;
    const Outcome restarted = with_crashes(trial, {crash(2, at_s)}).run();
    check_sound(restarted.record);
    CHECK(restarted.record.samples_seen == steps * trial.rows);
    CHECK(restarted.record.samples > steps * trial.rows);
    const Outcome waited = with_crashes(trial, {crash(2, at_s)}, Recovery::wait).run();
    CHECK(waited.record.samples_seen == steps * trial.rows);
    // The more that is computed again, the slower: seen samples a second fall with the time alone.
    CHECK(restarted.record.simulated_s > waited.record.simulated_s);
  }
}

TEST_CASE("two crashes in a row lose the samples of both") {
  const auto [name, program, step_s, communicating_s] = synchronous()[2];
  const Trial trial = fragile(program);
  const double first_s = 10.5 * step_s;
  const double second_s = first_s + repair_s + 3.5 * step_s;  // in step 12, of the second attempt
  const Outcome outcome = with_crashes(trial, {crash(2, first_s), crash(1, second_s)}).run();
  check_sound(outcome.record);
  CHECK(outcome.record.samples_seen == steps * trial.rows);
  // Steps 9 and 10 and a part of 11, then 9 to 11 and a part of 12.
  CHECK(outcome.record.samples >= (steps + 5) * trial.rows);
}

TEST_CASE("a server that counts gradients as they come has seen those since its checkpoint once") {
  Trial trial = fragile(parameter_server(Consistency::asp));
  const Outcome undisturbed = trial.run();
  CHECK(undisturbed.record.samples_seen == undisturbed.record.samples);
  const double at_s = undisturbed.record.curve[10].simulated_s + 1e-5;
  const Outcome outcome = with_crashes(trial, {crash(2, at_s)}).run();
  check_sound(outcome.record);
  // Each update is a rank's gradient of 12 rows.
  CHECK(outcome.record.samples_seen == 12 * outcome.record.steps);
  CHECK(outcome.record.samples > *outcome.record.samples_seen);
}

TEST_CASE("replicas that go on without the lost one lose nothing") {
  Trial trial = fragile(gossip("ring", GossipUpdate::combine_then_adapt));
  const Outcome outcome = with_crashes(trial, {crash(2, 5 * gossip_s)}, Recovery::keep_going).run();
  check_sound(outcome.record);
  CHECK(outcome.record.samples_seen == outcome.record.samples);
}

}  // namespace goodput_test

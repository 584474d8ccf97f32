// Crashes under a cut model: what each recovery costs, and the parameters that it ends with.
#include <fmt/format.h>

#include <algorithm>

#include "strategies/equal_layers.h"
#include "strategies/fragile.h"
#include "strategies/mesh_trial.h"
#include "strategies/sharded/zero.h"

namespace mesh_failures_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Copies;

namespace {

constexpr double exact = 1e-9;
constexpr double storage_B = 1e6;
constexpr double restart_s = 0.25;
constexpr std::int64_t all_steps = 12;

/// Two stages of a perceptron, whose state is kept every five steps.
MeshTrial cut_in_two(int data = 1) {
  MeshTrial trial = perceptron_trial();
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.parallel.pipeline = 2;
  trial.parallel.micro_batches = 4;
  trial.workers = 2 * data;
  trial.steps = all_steps;
  trial.training.optimizer.choose("adam");
  trial.training.checkpoint_every_steps = 5;
  trial.cluster.failures.detection_s = detection_s;
  return trial;
}

MeshTrial crashing(MeshTrial trial, double at_s, Recovery recovery = Recovery::restart, int rank = 1) {
  trial.cluster.failures.crashes = {crash(rank, at_s)};
  trial.cluster.failures.recovery = recovery;
  return trial;
}

/// The time of so many steps from the beginning on. Successive steps may overlap.
double time_of(MeshTrial trial, std::int64_t steps) {
  trial.steps = steps;
  return trial.run().record.simulated_s;
}

double step_of(const MeshTrial& trial) { return trial.run().record.simulated_s / static_cast<double>(trial.steps); }

/// Parameters of each part, ascending by the stages.
std::vector<double> parts_of(const MeshTrial& trial) {
  const auto cuts = strategies::on_mesh(trial.strategy, trial.parallel)->traits(trial.workers).cuts;
  const training::MeshLayout layout = cuts(memory_terms(trial));
  const std::vector<models::Layer> layers = trial.model->layers(trial.problem);
  std::vector<double> all;
  for (const auto& chunks : layout.chunks) {
    double sum = 0.0;
    for (const models::Layer& layer : layers)
      for (const models::Chunk& chunk : chunks)
        if (layer.unit >= chunk.first_unit && layer.unit < chunk.end_unit) sum += static_cast<double>(layer.count);
    all.push_back(sum);
  }
  return all;
}

/// Two alike stages, of which only times are known; a step has one micro-batch.
MeshTrial two_alike() {
  auto model = std::make_shared<EqualLayers>();
  model->count = 2;
  model->parameters_a_layer = 1000;
  MeshTrial trial{.model = model, .problem = {.features = 1}, .strategy = around_a_ring<strategies::Allreduce>()};
  trial.rows = trial.batch = 8;
  trial.parallel.pipeline = 2;
  trial.parallel.micro_batches = 1;
  trial.workers = 2;
  trial.steps = 10;
  trial.training.numbers = false;
  return trial;
}

}  // namespace

TEST_CASE("after a crash under a cut model all go on from the last checkpoint, to the undisturbed parameters") {
  for (const int data : {1, 2}) {
    CAPTURE(data);
    const MeshTrial trial = cut_in_two(data);
    const Outcome undisturbed = trial.run();
    const double step_s = undisturbed.record.simulated_s / all_steps, at_s = 7.4 * step_s;
    const Outcome outcome = crashing(trial, at_s).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + 7 * step_s).epsilon(exact));
    CHECK(*outcome.record.lost_s == Approx(2.4 * step_s).epsilon(exact));
  }
}

TEST_CASE("a spare host takes the place of a lost one once the loss is detected") {
  MeshTrial trial = cut_in_two();
  const Outcome undisturbed = trial.run();
  const double step_s = undisturbed.record.simulated_s / all_steps, at_s = 7.4 * step_s;
  trial.cluster.failures.spares = 1;
  trial.cluster.failures.restart_time_s = restart_s;
  const Outcome outcome = crashing(trial, at_s).run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  CHECK(outcome.record.simulated_s == Approx(at_s + detection_s + restart_s + 7 * step_s).epsilon(exact));
}

TEST_CASE("the second loss takes the host that was repaired meanwhile, and a third one waits") {
  MeshTrial trial = cut_in_two();
  const double step_s = step_of(trial);
  trial.cluster.failures.spares = 1;
  const auto end_s = [&](double second_s, double repair) {
    MeshTrial twice = trial;
    twice.cluster.failures.crashes = {crash(0, 0.5 * step_s, repair), crash(0, second_s, 10.0)};
    const Outcome outcome = twice.run();
    check_sound(outcome.record);
    return outcome.record.simulated_s;
  };
  const double first_on_s = 0.5 * step_s + detection_s, second_s = first_on_s + 1.5 * step_s;
  const double all_s = static_cast<double>(all_steps) * step_s;
  // The first host is back before the second loss; and only long after it.
  CHECK(end_s(second_s, 0.25 * step_s) == Approx(second_s + detection_s + all_s).epsilon(exact));
  const double late_s = second_s + 2.0;
  CHECK(end_s(second_s, late_s - 0.5 * step_s) == Approx(late_s + all_s).epsilon(exact));
}

TEST_CASE("a rank that is back gets its state from a rank with the same part") {
  const MeshTrial trial = cut_in_two(2);
  const Outcome undisturbed = trial.run();
  const double step_s = undisturbed.record.simulated_s / all_steps, at_s = 7.4 * step_s;
  const Outcome outcome = crashing(trial, at_s, Recovery::wait).run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  const MeshTrial whole = cut_in_two();
  const double B = trial.cluster.host_spec.bandwidth_bytes_per_s;
  const double state_bytes = 3 * 8 * parts_of(whole).front();  // adam's two vectors
  CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + alpha + state_bytes / B + 5 * step_s).epsilon(exact));
  CHECK(*outcome.record.lost_s == Approx(0.4 * step_s).epsilon(exact));
}

TEST_CASE("without another rank with its part a lost rank's memory is gone, unless the stage before has a copy") {
  MeshTrial trial = cut_in_two();
  const double step_s = step_of(trial);
  const Outcome lost = crashing(trial, 7.4 * step_s, Recovery::wait).run();
  check_sound(lost.record);
  CHECK(lost.record.simulated_s == Approx(7.4 * step_s + repair_s + 7 * step_s).epsilon(exact));

  trial.parallel.copies = Copies::next_stage;
  const Outcome undisturbed = trial.run();
  const double copying_step_s = undisturbed.record.simulated_s / all_steps, at_s = 7.4 * copying_step_s;
  CHECK(copying_step_s > step_s);
  for (const int rank : {0, 1}) {
    CAPTURE(rank);
    const Outcome outcome = crashing(trial, at_s, Recovery::wait, rank).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    // It gets its state back, and then the copy that it keeps.
    const double B = trial.cluster.host_spec.bandwidth_bytes_per_s;
    const std::vector<double> parts = parts_of(trial);
    const double states_s = 2 * alpha + 3 * 8 * (parts[0] + parts[1]) / B;
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + states_s + time_of(trial, 5)).epsilon(exact));
  }
}

TEST_CASE("neighbours that are lost together go back to the checkpoint") {
  MeshTrial trial = cut_in_two();
  trial.parallel.copies = Copies::next_stage;
  const Outcome undisturbed = trial.run();
  const double step_s = undisturbed.record.simulated_s / all_steps, at_s = 7.4 * step_s;
  const double left_s = time_of(trial, 7);
  trial.cluster.failures.crashes = {crash(0, at_s), crash(1, at_s)};
  trial.cluster.failures.recovery = Recovery::wait;
  const Outcome outcome = trial.run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + left_s).epsilon(exact));
}

TEST_CASE("a copy costs its gradient's message, its update, and the memory of a state") {
  MeshTrial trial = two_alike();
  const double step_s = step_of(trial);
  trial.parallel.copies = Copies::next_stage;
  const double N = 1000.0, B = trial.cluster.host_spec.bandwidth_bytes_per_s;
  CHECK(step_of(trial) == Approx(step_s + alpha + 8 * N / B + 2 * N / speed).epsilon(exact));

  for (const std::int64_t stage : {0, 1}) {
    MeshTrial text = transformer_trial(6, false);
    text.data = {};
    text.strategy = around_a_ring<strategies::Allreduce>();
    if (stage > 0) {
      auto zero = std::make_shared<strategies::Zero>();
      zero->stage = stage;
      text.strategy = zero;
    }
    text.parallel.pipeline = 3;
    text.parallel.micro_batches = 4;
    text.parallel.copies = Copies::next_stage;
    text.workers = 6;
    text.training.numbers = false;
    text.training.optimizer.choose("adam");
    const double bytes = strategies::on_mesh(text.strategy, text.parallel)->memory(memory_terms(text)).sum();
    CHECK(bytes == Approx(peak_memory(text.run().record)).epsilon(stage > 0 ? 1e-2 : exact));
  }
}

TEST_CASE("the ranks with one part write a checkpoint together, and each reads all of it") {
  for (const int data : {1, 2}) {
    CAPTURE(data);
    MeshTrial trial = cut_in_two(data);
    const double step_s = step_of(trial);
    trial.cluster.storage_bandwidth_bytes_per_s = storage_B;
    const std::vector<double> parts = parts_of(trial);
    const double part_bytes = 3 * 8 * std::max(parts.front(), parts.back());
    const double write_s = std::ceil(part_bytes / data) / storage_B, read_s = part_bytes / storage_B;
    CHECK(*trial.run().record.checkpoint_s == Approx(2 * write_s).epsilon(exact));
    const Outcome outcome = crashing(trial, 7.4 * step_s + write_s).run();
    check_sound(outcome.record);
    CHECK(*outcome.record.recovery_s == Approx(repair_s + read_s).epsilon(exact));
  }
}

TEST_CASE("an asynchronous checkpoint holds the ranks up for the copy alone, and counts once it is on storage") {
  MeshTrial trial = two_alike();
  trial.training.checkpoint_every_steps = 2;
  trial.training.checkpoint_async = true;
  trial.cluster.failures.detection_s = 0.0;
  const double step_s = step_of(two_alike()), bytes = 8 * 1000.0;
  const double copy_s = 0.1 * step_s, write_s = 1.3 * step_s;
  trial.cluster.host_memory_bandwidth_bytes_per_s = bytes / copy_s;
  trial.cluster.storage_bandwidth_bytes_per_s = bytes / write_s;
  const Outcome undisturbed = trial.run();
  CHECK(undisturbed.record.simulated_s == Approx(10 * step_s + 4 * copy_s).epsilon(exact));  // none at the end
  CHECK(*undisturbed.record.checkpoint_s == Approx(4 * copy_s).epsilon(exact));

  // The copy of step 2 ends at 2.1 steps, and is on storage at 3.4.
  for (const auto& [at, from] : {std::pair(3.3, 0.0), std::pair(3.5, 2.0)}) {
    CAPTURE(at);
    const Outcome outcome = crashing(trial, at * step_s).run();
    check_sound(outcome.record);
    const double reading_s = from > 0.0 ? write_s : 0.0;
    const double left_s = (10 - from) * step_s + (from > 0.0 ? 3 : 4) * copy_s;
    CHECK(outcome.record.simulated_s == Approx(at * step_s + repair_s + reading_s + left_s).epsilon(exact));
    CHECK(*outcome.record.lost_s == Approx((at - (from > 0.0 ? 2.1 : 0.0)) * step_s).epsilon(exact));
  }
}

TEST_CASE("a checkpoint that a lost host was writing is void, though the host is back before the loss is detected") {
  MeshTrial trial = two_alike();
  trial.training.checkpoint_every_steps = 2;
  trial.training.checkpoint_async = true;
  const double step_s = step_of(two_alike()), bytes = 8 * 1000.0;
  trial.cluster.storage_bandwidth_bytes_per_s = bytes / (1.3 * step_s);
  trial.cluster.failures.detection_s = 0.6 * step_s;
  // Rank 0, whose backward pass is the last of a step, would have its state of step 2 on storage at 3.3 steps.
  MeshTrial failing = crashing(trial, 3.1 * step_s, Recovery::restart, 0);
  failing.cluster.failures.crashes.front().repair_s = 0.1 * step_s;
  const Outcome outcome = failing.run();
  check_sound(outcome.record);
  CHECK(outcome.record.simulated_s == Approx(3.7 * step_s + 10 * step_s).epsilon(exact));
}

TEST_CASE("an asynchronous checkpoint waits until the one before is on storage") {
  MeshTrial trial = two_alike();
  trial.training.checkpoint_every_steps = 2;
  trial.training.checkpoint_async = true;
  const double step_s = step_of(two_alike()), write_s = 2.5 * step_s;
  trial.cluster.storage_bandwidth_bytes_per_s = 8 * 1000.0 / write_s;
  // Behind steps 4, 6 and 8 each waits for half a step.
  CHECK(trial.run().record.simulated_s == Approx(10 * step_s + 3 * 0.5 * step_s).epsilon(exact));
}

}  // namespace mesh_failures_test

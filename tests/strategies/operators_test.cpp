// A model's operators on several devices: the numbers of one device, and the time that a placement predicts.
#include "strategies/operators/operators.h"

#include "base/random.h"
#include "models/least_squares.h"
#include "models/multitask_perceptron.h"
#include "strategies/mesh_trial.h"
#include "strategies/single.h"

namespace operators_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Operators;
using strategies::Placing;

/// Two shared layers and three tasks.
MeshTrial multitask_trial() {
  auto model = std::make_shared<models::MultitaskPerceptron>();
  model->hidden = {12, 8};
  model->l2 = 0.01;
  MeshTrial trial{.model = model, .problem = {.features = 6, .classes = 3}, .strategy = {}};
  trial.rows = 96;
  trial.batch = 48;
  trial.data = linear_data(trial.rows, 6, 1);
  trial.data.classes = 3;
  for (std::int64_t i = 0; i < trial.rows; ++i)
    trial.data.targets[static_cast<std::size_t>(i)] = static_cast<double>(i % 3);
  return trial;
}

MeshTrial least_squares_trial() {
  auto model = std::make_shared<models::LeastSquares>();
  model->l2 = 0.01;
  MeshTrial trial{.model = model, .problem = {.features = 6}, .strategy = {}};
  trial.rows = 96;
  trial.batch = 48;
  trial.data = linear_data(trial.rows, 6, 1);
  return trial;
}

MeshTrial on_three(MeshTrial trial) {
  trial.workers = 3;
  trial.cluster.relative_speeds = {1.0, 2.0, 4.0};
  return trial;
}

struct Placed {
  Placing placement = Placing::heft;
  std::vector<double> devices = {};
  std::int64_t micro_batches = 1;
};

Outcome run(MeshTrial trial, const Placed& placed) {
  auto operators = std::make_shared<Operators>();
  operators->placement = placed.placement;
  operators->devices = placed.devices;
  operators->micro_batches = placed.micro_batches;
  trial.strategy = operators;
  return trial.run();
}

Outcome alone(MeshTrial trial) {
  trial.strategy = std::make_shared<strategies::Single>();
  trial.workers = 1;
  trial.cluster.relative_speeds = {};
  return trial.run();
}

std::vector<double> random_devices(std::size_t operators, std::uint64_t seed) {
  base::Stream stream({.seed = seed, .purpose = base::Purpose::test});
  std::vector<double> devices;
  for (std::size_t i = 0; i < operators; ++i) devices.push_back(std::floor(3.0 * stream.uniform()));
  return devices;
}

void check_equal(const Outcome& one, const Outcome& other) {
  REQUIRE(one.record.error.empty());
  REQUIRE(one.evaluated.size() == other.evaluated.size());
  for (std::size_t step = 0; step < one.evaluated.size(); ++step)
    CHECK(relative_distance(one.evaluated[step], other.evaluated[step]) < 1e-12);
}

TEST_CASE("parameters are those of one device, wherever the operators are") {
  const auto [trial, operators] = GENERATE(std::pair(perceptron_trial(), 5), std::pair(transformer_trial(2, false), 4),
                                           std::pair(multitask_trial(), 5), std::pair(least_squares_trial(), 1));
  MeshTrial placed = on_three(trial);
  placed.training.optimizer.choose("adam");
  const Outcome single = alone(placed);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Outcome outcome = run(
        placed, {.placement = Placing::by_hand, .devices = random_devices(static_cast<std::size_t>(operators), seed)});
    check_equal(outcome, single);
    CHECK(outcome.record.samples == single.record.samples);
  }
}

TEST_CASE("parameters are those of one device, whatever the placement") {
  MeshTrial trial = on_three(GENERATE(perceptron_trial(), transformer_trial(1, false), multitask_trial()));
  trial.training.clip_norm = 0.01;  // below the norm, so that each step is scaled by the norm over all ranks
  const Outcome single = alone(trial);
  for (const Placing placement : {Placing::greedy, Placing::heft, Placing::balanced, Placing::exhaustive})
    check_equal(run(trial, {.placement = placement}), single);
  for (const Placing placement : {Placing::greedy, Placing::heft, Placing::balanced})
    check_equal(run(trial, {.placement = placement, .micro_batches = 5}), single);
}

TEST_CASE("operators that share a matrix are on one device, and have it once") {
  const MeshTrial trial = on_three(transformer_trial(2, true));
  const Outcome single = alone(trial);
  for (const std::vector<double>& devices :
       {std::vector{0.0, 1.0, 2.0, 0.0}, {2.0, 2.0, 1.0, 2.0}, {1.0, 1.0, 1.0, 1.0}}) {
    const Outcome outcome = run(trial, {.placement = Placing::by_hand, .devices = devices});
    check_equal(outcome, single);
    CHECK(outcome.record.prediction_error.value() == Approx(0.0).margin(1e-9));
  }
  for (const Placing placement : {Placing::greedy, Placing::heft, Placing::balanced, Placing::exhaustive})
    check_equal(run(trial, {.placement = placement}), single);
}

TEST_CASE("formats: the numbers of one device in bfloat16, bit for bit") {
  MeshTrial trial = on_three(perceptron_trial());
  trial.training.precision = training::Precision::bfloat16;
  const Outcome outcome = run(trial, {.placement = Placing::by_hand, .devices = {0, 1, 2, 1, 0}});
  CHECK(outcome.evaluated == alone(trial).evaluated);
}

/// Seconds of a perceptron's layer on one of the three devices of `on_three`.
double pass_s(const MeshTrial& trial, std::size_t layer, int device, bool backward) {
  const models::Layer model_layer = trial.model->layers(trial.problem)[layer];
  const double rows = static_cast<double>(trial.batch),
               rate = speed * trial.cluster.relative_speeds[static_cast<std::size_t>(device)];
  return rows * (backward ? model_layer.backward_flops : model_layer.forward_flops) / rate;
}

TEST_CASE("a chain takes its operators, its messages and the last device's update") {
  MeshTrial trial = on_three(perceptron_trial());
  trial.steps = 4;
  const std::vector<int> devices{1, 0, 0, 2, 2};
  const Outcome outcome = run(trial, {.placement = Placing::by_hand, .devices = {devices.begin(), devices.end()}});
  double step_s = 0.0;
  for (std::size_t layer = 0; layer < devices.size(); ++layer)
    step_s += pass_s(trial, layer, devices[layer], false) + pass_s(trial, layer, devices[layer], true);
  for (const double numbers : {16.0, 8.0})  // behind layer 0, and behind layer 2
    step_s += 2.0 * (alpha + numbers * 8.0 * static_cast<double>(trial.batch) / B);
  const auto parameters = static_cast<double>(trial.model->layers(trial.problem)[0].count);
  step_s += 2.0 * parameters / (2.0 * speed);
  CHECK(outcome.record.simulated_s == Approx(4.0 * step_s).epsilon(1e-9));
  CHECK(outcome.record.predicted_step_s.value() == Approx(step_s).epsilon(1e-9));
  CHECK(outcome.record.prediction_error.value() == Approx(0.0).margin(1e-9));
  CHECK(outcome.record.messages == 4 * 4);
  CHECK(outcome.record.bytes == 4 * 2 * (16 + 8) * 8 * trial.batch);
}

TEST_CASE("an output goes once to each device that reads it, and tasks on two devices go on at one time") {
  MeshTrial trial = on_three(multitask_trial());
  trial.steps = 2;
  // Tasks 0 and 1 on device 0, task 2 on device 2; the shared layers on device 1.
  const Outcome outcome = run(trial, {.placement = Placing::by_hand, .devices = {1, 1, 0, 0, 2}});
  const double output = 8.0 * 8.0 * static_cast<double>(trial.batch);
  CHECK(outcome.record.messages == 2 * (2 + 3));  // outputs to two devices, derivatives of three tasks
  CHECK(outcome.record.bytes == 2 * static_cast<std::int64_t>(5.0 * output));
  CHECK(outcome.record.ranks[0].mesh.bubble_s.value() < outcome.record.simulated_s);
  // Outputs leave device 1 at one time, so that each has half of its card.
  CHECK(outcome.record.prediction_error.value() == Approx(0.0).margin(1e-9));
  REQUIRE(outcome.record.notes.size() == 1);
  CHECK(outcome.record.notes.front().find(" of 5 messages of a step share links with others; ") == 1);
}

TEST_CASE("the predicted step is the simulated one, whatever messages share links") {
  MeshTrial trial = on_three(multitask_trial());
  trial.steps = 3;
  trial.training.numbers = false;
  const auto micro_batches = GENERATE(1, 3);
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const Outcome outcome =
        run(trial, {.placement = Placing::by_hand, .devices = random_devices(5, seed), .micro_batches = micro_batches});
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.prediction_error.value() == Approx(0.0).margin(1e-9));
  }
}

TEST_CASE("the predicted step knows a limit of flows, and devices with their updates") {
  MeshTrial trial = on_three(multitask_trial());
  trial.training.numbers = false;
  trial.training.optimizer.choose("adam");
  SECTION("a limit of flows") { trial.cluster.flow_limit_bytes_per_s = B / 3.0; }
  SECTION("devices") {
    trial.cluster.host_spec = {.bandwidth_bytes_per_s = B, .latency_s = alpha};
    trial.cluster.device.choose("a100_80gb");
  }
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Outcome outcome = run(trial, {.placement = Placing::by_hand, .devices = random_devices(5, seed)});
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.prediction_error.value() == Approx(0.0).margin(1e-9));
  }
}

TEST_CASE("a placement looks at the memory of devices, unless it is to be ignored") {
  MeshTrial trial = on_three(multitask_trial());
  trial.training.numbers = false;
  trial.cluster.host_spec.latency_s = 1.0;  // so that one device is best
  const Placed heft{.placement = Placing::heft};
  CHECK(run(trial, heft).record.messages == 0);
  // Most of the memory is that of activations and parameters of the shared layers; all do not fit on one device.
  const double all = run(trial, heft).record.ranks[2].memory_bytes.value();
  trial.cluster.memory_bytes = 0.9 * all;
  CHECK(run(trial, heft).record.messages > 0);
  trial.training.memory = training::MemoryCheck::ignore;
  CHECK(run(trial, heft).record.messages == 0);
}

TEST_CASE("the same bytes with threads and without") {
  MeshTrial trial = on_three(multitask_trial());
  const Placed operators{.placement = Placing::balanced, .micro_batches = 3};
  const Outcome inline_numbers = run(trial, operators);
  trial.threads = 2;
  const Outcome outcome = run(trial, operators);
  CHECK(outcome.evaluated == inline_numbers.evaluated);
  CHECK(outcome.record.simulated_s == inline_numbers.record.simulated_s);
}

TEST_CASE("a rank without operators waits, and holds nothing") {
  MeshTrial trial = on_three(perceptron_trial());
  trial.training.numbers = GENERATE(true, false);
  const Outcome outcome = run(trial, {.placement = Placing::by_hand, .devices = {2, 2, 2, 2, 2}});
  REQUIRE(outcome.record.error.empty());
  CHECK(outcome.record.ranks[0].compute_s == 0.0);
  CHECK(outcome.record.ranks[0].memory_bytes.value() == 0.0);
  CHECK(outcome.record.messages == 0);
}

}  // namespace operators_test

// Block scheduling: replicas step alone, and blocks of the parameters are synchronised one by one.
#include "strategies/replicas/block_sync.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strategies/fragile.h"
#include "strategies/replicas/local_sgd.h"

namespace block_sync_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::BlockOptions;
using strategies::BlockRule;
using strategies::BlockSync;
using strategies::Measure;
using strategies::SendOrder;
using values::Tensor;

namespace {

training::Program block_sync(const BlockOptions& options, SendOrder send = SendOrder::together,
                             std::string_view algorithm = "ring") {
  auto strategy = around_a_ring<BlockSync>();
  strategy->options = options;
  strategy->send = send;
  strategy->algorithm.choose(algorithm);
  return strategies::program(strategy);
}

BlockOptions list(std::vector<double> periods) {
  const auto blocks = static_cast<std::int64_t>(periods.size());
  return {.blocks = blocks, .rule = BlockRule::list, .periods = std::move(periods)};
}

Trial small(training::Program program, int P, std::int64_t steps_in_all, const char* optimizer = "sgd") {
  Trial trial{.program = std::move(program), .workers = P, .rows = 60, .features = 6};
  trial.training.optimizer.choose(optimizer);
  trial.layers = 3;
  trial.stop.steps = steps_in_all;
  return trial;
}

/// A run of which only the times count: 3 layers of 10,000 parameters, each a block.
Trial timed(training::Program program, int P, double flops_a_row) {
  Trial trial = small(std::move(program), P, 4);
  trial.features = 30'000;
  trial.flops_a_row = flops_a_row;
  trial.training.numbers = false;
  return trial;
}

double ring_s(int P, double numbers) {
  const double hops = P - 1;
  return 2 * hops * alpha + 2 * hops / P * 8 * numbers / B + hops / P * numbers / speed;
}

}  // namespace

TEST_CASE("with period 1 for all blocks it is allreduce, bit for bit, at the same times") {
  for (const int P : {1, 2, 3, 4})
    for (const char* optimizer : {"sgd", "momentum", "adam"}) {
      CAPTURE(P, optimizer);
      const Outcome whole = small(ring_allreduce(), P, 12, optimizer).run();
      const Outcome blocks = small(block_sync(list({1, 1, 1})), P, 12, optimizer).run();
      CHECK(blocks.evaluated == whole.evaluated);
      CHECK(blocks.record.simulated_s == Approx(whole.record.simulated_s).epsilon(1e-12));
      CHECK(blocks.record.bytes == whole.record.bytes);
      const Outcome turns = small(block_sync({.blocks = 2, .blocks_a_step = 2}), P, 12, optimizer).run();
      CHECK(turns.evaluated == whole.evaluated);
    }
}

TEST_CASE("blocks that travel by themselves with period 1 are allreduce in buckets of a layer, bit for bit") {
  for (const char* algorithm : {"ring", "recursive_doubling"})
    for (const SendOrder send : {SendOrder::ready, SendOrder::needed}) {
      CAPTURE(algorithm, static_cast<int>(send));
      const Outcome buckets = small(allreduce(algorithm, 8.0), 4, 12, "adam").run();
      const Outcome blocks = small(block_sync(list({1, 1, 1}), send, algorithm), 4, 12, "adam").run();
      CHECK(blocks.evaluated == buckets.evaluated);
      CHECK(blocks.record.bytes == buckets.record.bytes);
      if (send == SendOrder::ready)
        CHECK(blocks.record.simulated_s == Approx(buckets.record.simulated_s).epsilon(1e-9));
    }
}

TEST_CASE("with period H for all blocks it is local SGD with H local steps, bit for bit") {
  for (const int P : {2, 3}) {
    for (const char* optimizer : {"sgd", "momentum"}) {
      CAPTURE(P, optimizer);
      const Outcome averaged = small(local_sgd(4), P, 12, optimizer).run();
      const Outcome blocks = small(block_sync(list({4, 4, 4})), P, 12, optimizer).run();
      CHECK(blocks.evaluated == averaged.evaluated);
      CHECK(blocks.record.simulated_s == Approx(averaged.record.simulated_s).epsilon(1e-12));
      CHECK(blocks.record.bytes == averaged.record.bytes);
    }
  }
}

TEST_CASE("blocks of other periods are gradient descent on a replica's rows, and are averaged when they are due") {
  constexpr int P = 3;
  const std::vector<double> periods{1, 2, 3};
  for (const SendOrder send : {SendOrder::together, SendOrder::ready, SendOrder::needed}) {
    const Trial trial = small(block_sync(list(periods), send), P, 12);
    const Outcome outcome = trial.run();
    const data::Dataset set = trial.data().train;
    std::vector<std::vector<double>> x(P, std::vector<double>(6));
    for (std::size_t k = 1; k <= 12; ++k) {
      std::vector<double> mean(6);
      for (std::size_t r = 0; r < P; ++r) {
        const auto g = gradient_of(trial, set, {static_cast<std::int64_t>(r) * 20, 20, {}}, x[r], 1.0 / 20.0);
        for (std::size_t i = 0; i < 6; ++i) mean[i] += (x[r][i] -= trial.training.learning_rate * g[i]) / P;
      }
      for (std::size_t i = 0; i < 6; ++i)
        if (k % static_cast<std::size_t>(periods[i / 2]) == 0)
          for (auto& replica : x) replica[i] = mean[i];
      CAPTURE(static_cast<int>(send), k);
      CHECK(relative_distance(outcome.evaluated[k], mean) < 1e-12);
    }
    CHECK(outcome.record.blocks.at(2).first == 4);
    CHECK(outcome.record.blocks[2].parameters == 2);
    CHECK(outcome.record.blocks[2].synchronisations == 4);
    CHECK(outcome.record.blocks[1].period == 2.0);
  }
}

TEST_CASE("what blocks in turn send, and what they save, is what allreduce sends") {
  const Outcome whole = small(ring_allreduce(), 4, 12).run();
  for (const std::int64_t a_step : {1, 2}) {
    const Outcome outcome = small(block_sync({.blocks = 3, .blocks_a_step = a_step}), 4, 12).run();
    const double share = static_cast<double>(a_step) / 3;
    CAPTURE(a_step);
    CHECK(outcome.record.synchronised_share.value() == Approx(share).epsilon(1e-12));
    CHECK(static_cast<double>(outcome.record.bytes) ==
          Approx(share * static_cast<double>(whole.record.bytes)).epsilon(1e-12));
    CHECK(static_cast<double>(outcome.record.bytes) + outcome.record.bytes_saved.value() ==
          Approx(static_cast<double>(whole.record.bytes)).epsilon(1e-12));
  }
}

TEST_CASE("a step takes t_c + t_update + the sums of its blocks, and their means") {
  constexpr int P = 4;
  // Steps 1 to 4 synchronise {0}, {0, 1}, {0, 2}, {0, 1} of three blocks: the first by its gradient, the others' mean.
  const Trial trial = timed(block_sync(list({1, 2, 3})), P, 1e6);
  const double d = 30'000, block = d / 3;
  const double one = trial.gradient_s() + 2 * d / speed + ring_s(P, block);
  const double two = one + ring_s(P, block) + block / speed;
  CHECK(trial.run().record.simulated_s == Approx(one + 3 * two).epsilon(1e-9));
}

TEST_CASE("the order on the wire decides how much of the next forward pass is beside it") {
  constexpr int P = 4;
  constexpr double flops_a_row = 4e4;
  constexpr double block = 10'000;
  const double T = ring_s(P, block), u = 2 * block / speed;
  const double pass = 15 * flops_a_row / 2 / 3 / speed;  // of a layer, in one direction
  REQUIRE(T > pass);
  // needed: the sums begin behind the backward pass, and layer i of the next forward pass waits for the i-th of them. A
  // sum takes longer than a layer and its update, so that the last one ends 3 T later.
  REQUIRE(T > pass + u);
  const Trial in_need = timed(block_sync(list({1, 1, 1}), SendOrder::needed), P, flops_a_row);
  CHECK(in_need.run().record.simulated_s == Approx(3 * pass + 4 * (3 * pass + 3 * T + u) + 3 * pass).epsilon(1e-9));
  // ready: the sums begin one layer into the backward pass, and the first layer's is the last. All updates and the
  // whole forward pass follow.
  const Trial as_ready = timed(block_sync(list({1, 1, 1}), SendOrder::ready), P, flops_a_row);
  CHECK(as_ready.run().record.simulated_s == Approx(4 * (3 * pass + pass + 3 * T + 3 * u)).epsilon(1e-9));
}

TEST_CASE("the block that moves most is synchronised most often, and a budget is kept") {
  Trial trial = small(block_sync({.blocks = 3, .rule = BlockRule::movement, .longest = 10}), 4, 60);
  const record::Record free = trial.run().record;
  // The weights that the data have are 1, 2, ..., 6 sixths: later ones move more.
  REQUIRE(free.blocks.size() == 3);
  CHECK(free.blocks[2].period < free.blocks[1].period);
  CHECK(free.blocks[1].period < free.blocks[0].period);
  CHECK(free.blocks[0].movement.value() > 0.0);
  CHECK(free.bytes_saved.value() > 0.0);
  CHECK(free.bytes_saved.value() == std::floor(free.bytes_saved.value()));  // whole bytes
  trial.program = block_sync({.blocks = 3, .rule = BlockRule::movement, .longest = 10, .budget = 0.25});
  const record::Record tight = trial.run().record;
  CHECK(tight.synchronised_share.value() < free.synchronised_share.value());
  CHECK(tight.synchronised_share.value() < 0.3);  // the first step synchronises all
  CHECK(tight.synchronised_share.value() > 0.1);  // the share at the longest period
  const Outcome inline_run = trial.run();
  trial.threads = 2;
  const Outcome threaded = trial.run();
  CHECK(threaded.evaluated == inline_run.evaluated);
  CHECK(threaded.record.simulated_s == inline_run.record.simulated_s);
  trial.cluster.collectives = cluster::Collectives::messages;
  CHECK(trial.run().evaluated == inline_run.evaluated);
}

TEST_CASE("a block's next period is the most movement over its own, in whole steps and within bounds") {
  values::Dispatcher dispatcher({.threads = 0, .numbers = true, .label = {}});
  const Tensor before = dispatcher.constant({1, 1, 1, 1, 1, 1});
  const Tensor after = dispatcher.constant({5, 5, 2.5, 2.5, 1.1, 1.1});
  const training::State state{.w = before};
  BlockOptions options{.blocks = 3, .rule = BlockRule::movement, .longest = 20};
  for (const Measure measure : {Measure::number, Measure::norm}) {
    options.measure = measure;
    strategies::BlockSchedule schedule(options, strategies::blocks_of(options, {}, 6), false, state);
    std::vector<double> movements;
    for (std::size_t b = 0; b < 3; ++b) {
      REQUIRE(schedule.due(b));
      const auto of_block = [&](const Tensor& w) { return values::slice(w, static_cast<std::int64_t>(2 * b), 2); };
      movements.push_back(schedule.moved(b, of_block(before), of_block(after)));
    }
    // Each number moves by 4, 1.5 and 0.1; a norm by 4/5, 1.5/2.5 and 0.1/1.1 of itself.
    const bool by_number = measure == Measure::number;
    CHECK(movements[0] == Approx(by_number ? 4.0 : 0.8).epsilon(1e-12));
    CHECK(movements[1] == Approx(by_number ? 1.5 : 0.6).epsilon(1e-12));
    CHECK(movements[2] == Approx(by_number ? 0.1 : 0.1 / 1.1).epsilon(1e-12));
    // Periods 1, floor(4 / 1.5) = 2 and 20, which is the longest of floor(40); by norm 1, 1 and floor(8.8) = 8.
    const std::vector<std::int64_t> periods =
        by_number ? std::vector<std::int64_t>{1, 2, 20} : std::vector<std::int64_t>{1, 1, 8};
    schedule.step(movements);
    for (std::int64_t step = 2; step <= 21; ++step) {
      for (std::size_t b = 0; b < 3; ++b)
        if (step <= 1 + periods[b]) CHECK(schedule.due(b) == (step == 1 + periods[b]));
      schedule.step(movements);
    }
  }
}

TEST_CASE("one worker with blocks is sequential, bit for bit") {
  const Outcome alone = small(single(), 1, 12, "momentum").run();
  for (const SendOrder send : {SendOrder::together, SendOrder::ready, SendOrder::movement}) {
    const BlockOptions options{.blocks = 3, .rule = BlockRule::movement};
    CHECK(small(block_sync(options, send), 1, 12, "momentum").run().evaluated == alone.evaluated);
  }
}

TEST_CASE("a training with blocks that starts again from a checkpoint equals the undisturbed one, bit for bit") {
  for (const SendOrder send : {SendOrder::together, SendOrder::needed, SendOrder::movement})
    for (const char* optimizer : {"sgd", "momentum"}) {
      Trial trial = fragile(block_sync({.blocks = 4, .rule = BlockRule::movement, .longest = 5}, send));
      trial.training.optimizer.choose(optimizer);
      const Outcome undisturbed = trial.run();
      const double at_s = undisturbed.record.curve[10].simulated_s + 0.5 * t_c;
      const Outcome outcome = with_crashes(trial, {crash(3, at_s)}).run();
      CAPTURE(static_cast<int>(send), optimizer);
      check_sound(outcome.record);
      CHECK(outcome.record.crashes == 1);
      CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    }
}

TEST_CASE("a target loss ends a training whose blocks travel beside the passes") {
  Trial trial = small(block_sync(list({1, 1, 1}), SendOrder::needed), 4, 50);
  const Outcome whole = trial.run();
  trial.stop.loss = whole.record.curve[7].loss;
  const Outcome outcome = trial.run();
  CHECK(outcome.record.status == record::Status::reached);
  CHECK(outcome.record.steps == 7);
  CHECK(outcome.record.time_to_target_s.value() == Approx(whole.record.curve[7].simulated_s).epsilon(1e-12));
}

}  // namespace block_sync_test

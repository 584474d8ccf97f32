// The target of replicas that are averaged now and then: it is reached after an average, when workers hold what is
// evaluated.
#include <optional>

#include "strategies/programs.h"
#include "strategies/replicas/block_sync.h"
#include "strategies/replicas/diloco.h"

namespace target_of_rounds_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t all_steps = 24;

training::Program in_rounds(std::optional<std::int64_t> steps, std::int64_t synchronous_steps = 0) {
  strategies::LocalSgd strategy;
  strategy.local_steps = steps;
  strategy.synchronous_steps = synchronous_steps;
  strategy.algorithm.choose("ring");
  return local_sgd(std::move(strategy));
}

training::Program outer(std::int64_t steps) {
  auto strategy = around_a_ring<strategies::DiLoCo>();
  strategy->local_steps = steps;
  strategy->outer_rate = 1.0;
  strategy->outer_momentum = 0.0;
  return strategies::program(strategy);
}

training::Program blocks_by_list(double period) {
  auto strategy = around_a_ring<strategies::BlockSync>();
  strategy->options = {.blocks = 1, .rule = strategies::BlockRule::list, .periods = {period}};
  return strategies::program(strategy);
}

/// The program's run until its mean after a step would be at the target, and no earlier one; and without a target.
struct TwoRuns {
  Outcome whole, aimed;

  TwoRuns(const training::Program& program, std::int64_t step, int P = 3, std::int64_t every = 1) {
    Trial trial{.program = program, .workers = P, .rows = 60, .features = 6};
    trial.stop.steps = all_steps;
    whole = trial.run();
    const auto loss = [this](std::int64_t k) {
      return whole.record.curve.at(static_cast<std::size_t>(k)).loss.value();
    };
    REQUIRE(loss(step) < loss(step - 1));
    trial.stop.loss = loss(step);
    trial.evaluate.every_steps = every;
    aimed = trial.run();
  }
  const record::Evaluation& row(std::int64_t step) const {
    return whole.record.curve.at(static_cast<std::size_t>(step));
  }
};

/// The run ends at the step's time, with its loss and with the bytes that were sent until then.
void check_reached_at(const TwoRuns& runs, std::int64_t step) {
  const record::Record& aimed = runs.aimed.record;
  CAPTURE(step);
  CHECK(aimed.status == record::Status::reached);
  CHECK(aimed.curve.back().step == step);
  CHECK(aimed.time_to_target_s.value() == runs.row(step).simulated_s);
  CHECK(aimed.curve.back().loss == runs.row(step).loss);
  CHECK(aimed.curve.back().bytes == runs.row(step).bytes);
}

}  // namespace

TEST_CASE("a target that the mean meets within a round is reached by the average that ends it") {
  for (const auto& program : {in_rounds(4), outer(4)}) {
    const TwoRuns runs(program, 6);
    check_reached_at(runs, 8);
    // Two averages of six numbers around a ring of three.
    CHECK(runs.row(8).bytes == 2.0 * 2 * (3 - 1) * 8 * 6);
  }
}

TEST_CASE("one block that is synchronised every four steps reaches a target as local SGD does") {
  check_reached_at(TwoRuns(blocks_by_list(4), 6), 8);
  check_reached_at(TwoRuns(blocks_by_list(1), 6), 6);
}

TEST_CASE("a training that ends within a round has not reached the target, and says so") {
  Trial trial{.program = in_rounds(4), .workers = 3, .rows = 60, .features = 6};
  trial.stop.steps = 6;
  const double loss = trial.run().record.curve.back().loss.value();
  trial.stop.loss = loss;
  const record::Record record = trial.run().record;
  CHECK(record.status == record::Status::stopped);
  CHECK_FALSE(record.time_to_target_s);
  CHECK(record.final_loss == loss);
  CHECK(record.notes ==
        std::vector<std::string>{"the mean of the replicas met the target, but the training ended before "
                                 "an average: no worker holds that mean"});
  trial.stop.loss = 0.5 * loss;
  CHECK(trial.run().record.notes.empty());
}

TEST_CASE("a target that is met by an average is reached at once") {
  for (const auto& program : {in_rounds(4), outer(4)}) check_reached_at(TwoRuns(program, 8), 8);
}

TEST_CASE("an average after a mean at the target is evaluated, whatever the interval of evaluations") {
  for (const auto& program : {in_rounds(4), outer(4)}) {
    const TwoRuns runs(program, 6, 3, 3);
    check_reached_at(runs, 8);
    REQUIRE(runs.aimed.record.curve.size() == 4);  // after 0, 3, 6 and 8 steps
    CHECK(runs.aimed.record.curve[2].step == 6);
  }
}

TEST_CASE("replicas that are averaged once reach a target at the end of the training") {
  check_reached_at(TwoRuns(in_rounds(std::nullopt), 6), all_steps);
}

TEST_CASE("the first steps of post-local SGD reach a target each, and rounds begin behind them") {
  check_reached_at(TwoRuns(in_rounds(4, 5), 3), 3);
  check_reached_at(TwoRuns(in_rounds(4, 5), 6), 9);
}

TEST_CASE("a single worker holds its state after every step") {
  for (const auto& program : {in_rounds(4), outer(4)}) check_reached_at(TwoRuns(program, 6, 1), 6);
}

}  // namespace target_of_rounds_test

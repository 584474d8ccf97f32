// A crash at any time leaves a training that ends well.
#include "share.h"
#include "strategies/fragile.h"

namespace crash_sweep_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

/// One crash at each of 61 times from the beginning to the end of a run.
void sweep(const training::Program& program, Recovery recovery) {
  Trial trial = fragile(program);
  trial.stop.steps = program.traits(4).lockstep() ? 6 : 24;
  trial.training.checkpoint_every_steps = 2;
  const Outcome undisturbed = trial.run();
  Share share(7);  // each share has crashes of all ranks
  for (int i = 0; i <= 60; ++i) {
    if (!share.next()) continue;
    CAPTURE(i);
    const double at_s = undisturbed.record.simulated_s * i / 60.0;
    const Outcome outcome = with_crashes(trial, {crash(i % 4, at_s)}, recovery).run();
    check_sound(outcome.record);
    CHECK(outcome.record.steps == trial.stop.steps);
    CHECK(*outcome.record.final_loss < 1.3 * *undisturbed.record.final_loss);
    if (program.traits(4).lockstep() && recovery == Recovery::restart)
      CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

}  // namespace

TEST_CASE("mapreduce restarts well after a crash at any time") { sweep(mapreduce(), Recovery::restart); }
TEST_CASE("mapreduce shrinks well after a crash at any time") { sweep(mapreduce(), Recovery::shrink); }
TEST_CASE("bsp restarts well after a crash at any time") {
  sweep(parameter_server(Consistency::bsp), Recovery::restart);
}
TEST_CASE("bsp shrinks well after a crash at any time") { sweep(parameter_server(Consistency::bsp), Recovery::shrink); }
TEST_CASE("asp restarts well after a crash at any time") {
  sweep(parameter_server(Consistency::asp), Recovery::restart);
}
TEST_CASE("asp shrinks well after a crash at any time") { sweep(parameter_server(Consistency::asp), Recovery::shrink); }
TEST_CASE("allreduce restarts well after a crash at any time") { sweep(ring_allreduce(), Recovery::restart); }
TEST_CASE("allreduce shrinks well after a crash at any time") { sweep(ring_allreduce(), Recovery::shrink); }
TEST_CASE("gossip restarts well after a crash at any time") {
  sweep(gossip("ring", GossipUpdate::combine_then_adapt), Recovery::restart);
}
TEST_CASE("gossip shrinks well after a crash at any time") {
  sweep(gossip("ring", GossipUpdate::combine_then_adapt), Recovery::shrink);
}

TEST_CASE("every kind of parameter server restarts well after a crash at any time") {
  for (const auto& [name, program] : every_server()) {
    CAPTURE(name);
    sweep(program, Recovery::restart);
  }
}
TEST_CASE("every kind of parameter server shrinks well after a crash at any time") {
  for (const auto& [name, program] : every_server()) {
    CAPTURE(name);
    sweep(program, Recovery::shrink);
  }
}

TEST_CASE("a crash at the very moment a step ends leaves a training that ends well") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    const Trial trial = fragile(program);
    const Outcome undisturbed = trial.run();
    for (const auto& row : undisturbed.record.curve) {
      CAPTURE(name, row.step);
      const Outcome outcome = with_crashes(trial, {crash(3, row.simulated_s)}).run();
      check_sound(outcome.record);
      CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    }
  }
}

}  // namespace crash_sweep_test

// Recoveries that go on from memory: who waits, who goes on, what is sent to those who come back.
#include <fmt/format.h>

#include "strategies/fragile.h"

namespace memory_recovery_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

Crash server_crash(int server, double at_s, std::optional<double> repair = repair_s) {
  Crash one = crash(server, at_s, repair);
  one.role = cluster::Role::server;
  return one;
}

bool replicated(const std::string& name) { return name.starts_with("allreduce") || name.starts_with("gossip"); }

constexpr double soon_s = 0.02;  // a repair well before the others are through

/// alpha + M beta, for a rank that has come back without its replica.
constexpr double sent_state_s = alpha + M / slow_B;

}  // namespace

TEST_CASE("under wait only the step under way is lost, and who comes back is sent the state") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    Trial trial = fragile(program);
    trial.training.checkpoint_every_steps = 0;
    const Outcome undisturbed = trial.run();
    const double at_s = 9 * step_s + communicating_s;
    const Outcome outcome = with_crashes(trial, {crash(2, at_s)}, Recovery::wait).run();
    check_sound(outcome.record);
    if (!name.starts_with("gossip")) CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    CHECK(outcome.record.notes.back() ==
          fmt::format("resumed at {:.6g} s from step 9 with 4 workers", at_s + repair_s));
    const double sent_s = replicated(name) ? sent_state_s : 0.0;
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + sent_s + 11 * step_s).epsilon(1e-9));
    CHECK(outcome.record.ranks[2].down_s == Approx(repair_s).epsilon(1e-9));
    check_samples(outcome.record, name, (10 + 11) * 48);
  }
}

TEST_CASE("an optimizer's memory is sent along") {
  Trial trial = fragile(ring_allreduce());
  trial.training.optimizer.choose("adam");
  const double step_s = ring_s + (trial.training.optimizer->flops() - 2) * parts_d / speed;
  const double at_s = 9 * step_s + t_c;
  const Outcome outcome = with_crashes(trial, {crash(1, at_s)}, Recovery::wait).run();
  CHECK(outcome.final_parameters() == trial.run().final_parameters());
  CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + alpha + 3 * M / slow_B + 11 * step_s).epsilon(1e-9));
}

TEST_CASE("a strategy's own vectors are sent along: DiLoCo's momentum, and the parameters of its last outer step") {
  auto diloco = around_a_ring<strategies::DiLoCo>();
  diloco->local_steps = 4;
  Trial trial = fragile(strategies::program(diloco));
  trial.training.checkpoint_every_steps = 0;
  const Outcome undisturbed = trial.run();
  // In the step after an outer one, when replicas are equal.
  const double before_s = undisturbed.record.curve[8].simulated_s, at_s = before_s + 0.5 * t_c;
  const Outcome outcome = with_crashes(trial, {crash(1, at_s)}, Recovery::wait).run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  CHECK(outcome.record.simulated_s ==
        Approx(at_s + repair_s + alpha + 3 * M / slow_B + undisturbed.record.simulated_s - before_s).epsilon(1e-9));
}

TEST_CASE("of several ranks that come back each is sent the state by another one that has it, at one time") {
  Trial trial = fragile(ring_allreduce());
  trial.training.checkpoint_every_steps = 0;
  const std::vector<double> undisturbed = trial.run().final_parameters();
  const double at_s = 9 * ring_s + t_c;
  for (const auto& [first, second] : {std::pair{2, 3}, {0, 1}, {0, 3}, {1, 2}}) {
    CAPTURE(first, second);
    const Outcome outcome = with_crashes(trial, {crash(first, at_s), crash(second, at_s)}, Recovery::wait).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == undisturbed);
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + sent_state_s + 11 * ring_s).epsilon(1e-9));
  }
  // One rank that has the state sends it three times through its one link.
  const Outcome outcome = with_crashes(trial, {crash(0, at_s), crash(1, at_s), crash(3, at_s)}, Recovery::wait).run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == undisturbed);
  CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + alpha + 3 * M / slow_B + 11 * ring_s).epsilon(1e-9));
}

TEST_CASE("under elastic the others go on after the detection, and with who is back as soon as it is") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const double at_s = 9 * step_s + communicating_s;
    const Outcome outcome = with_crashes(trial, {crash(1, at_s, soon_s)}, Recovery::elastic).run();
    check_sound(outcome.record);
    CHECK(outcome.record.steps == steps);
    REQUIRE(outcome.record.notes.size() == 3);
    CHECK(outcome.record.notes[1] == fmt::format("resumed at {:.6g} s from step 9 with 3 workers", at_s + detection_s));
    CHECK(outcome.record.notes[2].starts_with(fmt::format("resumed at {:.6g} s from step ", at_s + soon_s)));
    CHECK(outcome.record.notes[2].ends_with("with 4 workers"));
    CHECK(outcome.record.ranks[1].down_s == Approx(soon_s).epsilon(1e-9));
    CHECK(outcome.record.simulated_s < at_s + soon_s + 11 * step_s);
    if (name.starts_with("gossip")) continue;
    CHECK(relative_distance(outcome.final_parameters(), trial.run().final_parameters()) < 1e-12);
  }
}

TEST_CASE("elastic loses the step under way twice: to the crash and to who joins") {
  const double at_s = 9 * ring_s + t_c + 2.5 * hop_s;
  const Outcome outcome = with_crashes(fragile(ring_allreduce()), {crash(1, at_s, soon_s)}, Recovery::elastic).run();
  // Three ranks: 16 rows each, hops of 3 and 2 numbers, the longest in flight counts.
  const double three_s = 16e-4 + 4 * (alpha + 24 / slow_B) + 2 * 3 / speed + 2 * parts_d / speed;
  const int done = static_cast<int>((soon_s - detection_s) / three_s);
  REQUIRE(done < 11);
  CHECK(outcome.record.simulated_s == Approx(at_s + soon_s + sent_state_s + (11 - done) * ring_s).epsilon(1e-6));
}

TEST_CASE("a server that crashes is waited for and takes its shard from the last checkpoint, with all others") {
  for (const Recovery recovery : {Recovery::restart, Recovery::wait, Recovery::elastic})
    for (const int shards : {1, 3}) {
      CAPTURE(name(recovery), shards);
      const Trial trial = fragile(servers({.shards = shards}));
      const Outcome undisturbed = trial.run();
      const double step_s = undisturbed.record.simulated_s / steps;
      const double at_s = 9.5 * step_s;
      const Outcome outcome = with_crashes(trial, {server_crash(0, at_s)}, recovery).run();
      check_sound(outcome.record);
      CHECK(outcome.final_parameters() == undisturbed.final_parameters());
      CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + 12 * step_s).epsilon(1e-9));
      CHECK(outcome.record.ranks[4].down_s == Approx(repair_s).epsilon(1e-9));
    }
}

TEST_CASE("the shard of a server that is lost for good is dealt to the others") {
  for (const Recovery recovery : {Recovery::shrink, Recovery::elastic})
    for (const char* optimizer : {"sgd", "adam"}) {
      CAPTURE(name(recovery), optimizer);
      Trial trial = fragile(servers({.shards = 3}));
      trial.training.optimizer.choose(optimizer);
      trial.training.learning_rate = 0.02;
      const Outcome undisturbed = trial.run();
      const double at_s = 0.5 * undisturbed.record.simulated_s;
      const Outcome outcome = with_crashes(trial, {server_crash(1, at_s, std::nullopt)}, recovery).run();
      check_sound(outcome.record);
      CHECK(outcome.final_parameters() == undisturbed.final_parameters());
      CHECK(outcome.record.ranks[5].down_s == Approx(outcome.record.simulated_s - at_s).epsilon(1e-9));
    }
}

TEST_CASE("a summation service holds no state: the others go on without it at once, from memory") {
  const Trial trial = fragile(byteps(2, 3));
  const Outcome undisturbed = trial.run();
  const double at_s = 0.5 * undisturbed.record.simulated_s;
  const Outcome outcome = with_crashes(trial, {server_crash(5, at_s, soon_s)}, Recovery::elastic).run();
  check_sound(outcome.record);
  REQUIRE(outcome.record.notes.size() == 3);
  CHECK(outcome.record.notes[1].starts_with(
      fmt::format("resumed at {:.6g} s from step {}", at_s + detection_s, steps / 2)));
  CHECK(relative_distance(outcome.final_parameters(), undisturbed.final_parameters()) < 1e-12);
}

TEST_CASE("a master device that crashes takes the parameters with it: the others have the last checkpoint") {
  const Trial trial = fragile(data_parallel());
  const Outcome undisturbed = trial.run();
  const double at_s = 9.5 * undisturbed.record.simulated_s / steps;
  for (const Recovery recovery : {Recovery::wait, Recovery::elastic}) {
    CAPTURE(name(recovery));
    const Outcome outcome = with_crashes(trial, {crash(0, at_s)}, recovery).run();
    check_sound(outcome.record);
    CHECK(outcome.record.notes[1].find("from step 8") != std::string::npos);
    CHECK(relative_distance(outcome.final_parameters(), undisturbed.final_parameters()) < 1e-12);
    const Outcome other = with_crashes(trial, {crash(1, at_s)}, recovery).run();
    CHECK(other.record.notes[1].find("from step 9") != std::string::npos);
  }
}

TEST_CASE("crashes that follow each other under elastic: of the joiner, of the others, of everybody") {
  const double at_s = 9 * ring_s + t_c;
  const std::vector<std::vector<Crash>> cascades{
      {crash(1, at_s), crash(1, at_s + repair_s + 0.5 * sent_state_s)},
      {crash(1, at_s), crash(0, at_s + repair_s + 0.5 * sent_state_s)},
      {crash(1, at_s), crash(2, at_s + 0.5 * detection_s), crash(3, at_s + detection_s), crash(0, at_s + repair_s)},
      {crash(0, at_s), crash(1, at_s), crash(2, at_s), crash(3, at_s)},
      {crash(0, at_s, std::nullopt), crash(1, at_s), crash(2, at_s, std::nullopt), crash(3, at_s)}};
  for (std::size_t i = 0; i < cascades.size(); ++i) {
    CAPTURE(i);
    const Trial trial = fragile(ring_allreduce());
    const Outcome outcome = with_crashes(trial, cascades[i], Recovery::elastic).run();
    check_sound(outcome.record);
    CHECK(outcome.record.steps == steps);
    CHECK(relative_distance(outcome.final_parameters(), trial.run().final_parameters()) < 1e-12);
  }
}

}  // namespace memory_recovery_test

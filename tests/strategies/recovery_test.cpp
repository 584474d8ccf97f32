// Crashes of workers at awkward moments: what is lost, what is restored, how long it takes.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "cluster/stragglers/varying.h"
#include "strategies/fragile.h"

namespace recovery_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;

TEST_CASE("after a crash and its repair all go on from the last checkpoint, to the undisturbed parameters") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const Outcome undisturbed = trial.run();
    CHECK(undisturbed.record.simulated_s == Approx(steps * step_s).epsilon(1e-9));

    const double at_s = 9 * step_s + communicating_s;  // in the tenth step; the state of step 8 has been kept
    const Outcome outcome = with_crashes(trial, {crash(2, at_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    CHECK(outcome.record.final_loss == undisturbed.record.final_loss);
    CHECK(outcome.record.steps == steps);
    // Ten steps' gradients were computed before the crash; twelve steps were left to do after it.
    check_samples(outcome.record, name, (10 + 12) * 48);
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + 12 * step_s).epsilon(1e-9));
    for (std::size_t r = 0; r < outcome.record.ranks.size(); ++r)
      CHECK(outcome.record.ranks[r].down_s == Approx(r == 2 ? repair_s : 0.0).epsilon(1e-9).margin(1e-15));
    CHECK(outcome.record.notes ==
          std::vector<std::string>{fmt::format("rank 2 crashed at {:.6g} s", at_s),
                                   fmt::format("resumed at {:.6g} s from step 8 with 4 workers", at_s + repair_s)});
  }
}

TEST_CASE("a crash while everybody computes loses the gradients under way") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const bool star = program.traits(4).servers > 0;
    const double at_s = 9 * step_s + (star ? transfer_s : 0.0) + 0.5 * t_c;
    const Outcome outcome = with_crashes(trial, {crash(1, at_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == trial.run().final_parameters());
    // Nine steps were complete. In the tenth the others end their gradients before they notice (detection takes
    // longer).
    CHECK(outcome.record.samples == (9 * 4 + 3 + 12 * 4) * 12);
  }
}

TEST_CASE("without checkpoints a training goes on from step 0") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    Trial trial = fragile(program);
    trial.training.checkpoint_every_steps = 0;
    const double at_s = 9 * step_s + communicating_s;
    const Outcome outcome = with_crashes(trial, {crash(2, at_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == trial.run().final_parameters());
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + steps * step_s).epsilon(1e-9));
    check_samples(outcome.record, name, (10 + steps) * 48);
  }
}

TEST_CASE("an optimizer is restored with the parameters, and minibatches are those of the steps that are repeated") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous())
    for (const char* optimizer : {"momentum", "adam"}) {
      CAPTURE(name, optimizer);
      Trial trial = fragile(program);
      trial.training.optimizer.choose(optimizer);
      trial.training.schedule.choose("inverse_time");
      trial.training.warmup_steps = 10;
      trial.training.learning_rate = 0.02;
      trial.batch = 24;
      const Outcome outcome = with_crashes(trial, {crash(0, 11 * step_s)}).run();
      check_sound(outcome.record);
      CHECK(outcome.final_parameters() == trial.run().final_parameters());
    }
}

TEST_CASE("everybody waits for the detection where the repair is faster") {
  Trial trial = fragile(ring_allreduce());
  const double at_s = 9 * ring_s + t_c + 2.5 * hop_s;
  const Outcome outcome = with_crashes(trial, {crash(3, at_s, 0.002)}).run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == trial.run().final_parameters());
  CHECK(outcome.record.ranks[3].down_s == Approx(0.002).epsilon(1e-9));
  CHECK(outcome.record.simulated_s == Approx(at_s + detection_s + 12 * ring_s).epsilon(1e-9));
}

TEST_CASE("under shrink the living go on after the detection, with the whole batch among fewer") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const double at_s = 9 * step_s + communicating_s;
    const Outcome outcome = with_crashes(trial, {crash(1, at_s, std::nullopt)}, Recovery::shrink).run();
    check_sound(outcome.record);
    CHECK(outcome.record.steps == steps);
    check_samples(outcome.record, name, (10 + 12) * 48);
    CHECK(outcome.record.ranks[1].down_s == Approx(outcome.record.simulated_s - at_s).epsilon(1e-9));
    const Outcome undisturbed = trial.run();
    CHECK(*outcome.record.final_loss < 1.5 * *undisturbed.record.final_loss);
    // Sums over all rows are the same sums, however many ranks share them.
    if (program.traits(4).servers > 0 || name.starts_with("allreduce"))
      CHECK(relative_distance(outcome.final_parameters(), undisturbed.final_parameters()) < 1e-12);
    CHECK(outcome.record.notes.back() ==
          fmt::format("resumed at {:.6g} s from step 8 with 3 workers", at_s + detection_s));
  }
}

TEST_CASE("shrinking takes the time of the smaller cluster's steps") {
  const double at_s = 9 * star_s + transfer_s + t_c + 0.5 * transfer_s;
  const Trial trial = with_crashes(fragile(mapreduce()), {crash(0, at_s, std::nullopt)}, Recovery::shrink);
  // 16 rows a rank, three messages at the server, three additions and the update
  const double smaller = 16e-4 + 2 * (alpha + 3 * M / slow_B) + 5 * parts_d / speed;
  CHECK(trial.run().record.simulated_s == Approx(at_s + detection_s + 12 * smaller).epsilon(1e-9));
}

TEST_CASE("two ranks that crash one after the other are both repaired, the state of the last checkpoint restored") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const double first_s = 9 * step_s + communicating_s;
    const double resumed_s = first_s + repair_s;
    const double second_s = resumed_s + 5 * step_s + communicating_s;  // in step 13; 12 has been kept
    const Outcome outcome = with_crashes(trial, {crash(2, first_s), crash(0, second_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == trial.run().final_parameters());
    CHECK(outcome.record.simulated_s == Approx(second_s + repair_s + 8 * step_s).epsilon(1e-9));
    check_samples(outcome.record, name, (10 + 6 + 8) * 48, 2);
    CHECK(outcome.record.ranks[0].down_s == Approx(repair_s).epsilon(1e-9));
    CHECK(outcome.record.ranks[2].down_s == Approx(repair_s).epsilon(1e-9));
  }
}

TEST_CASE("a crash during a recovery joins it") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous())
    for (const double later_s : {0.5 * detection_s, detection_s, 0.5 * repair_s, repair_s}) {
      CAPTURE(name, later_s);
      const Trial trial = fragile(program);
      const double at_s = 9 * step_s + communicating_s;
      const Outcome outcome = with_crashes(trial, {crash(2, at_s), crash(3, at_s + later_s)}).run();
      check_sound(outcome.record);
      CHECK(outcome.final_parameters() == trial.run().final_parameters());
      CHECK(outcome.record.ranks[2].down_s == Approx(repair_s).epsilon(1e-9));
      CHECK(outcome.record.ranks[3].down_s == Approx(repair_s).epsilon(1e-9));
      CHECK(outcome.record.simulated_s == Approx(at_s + later_s + repair_s + 12 * step_s).epsilon(1e-9));
    }
}

TEST_CASE("a rank that crashes again while it is down does not notice") {
  const double at_s = 9 * ring_s + t_c + 2.5 * hop_s;
  const Trial trial = with_crashes(fragile(ring_allreduce()), {crash(2, at_s), crash(2, at_s + 0.5 * repair_s)});
  const Outcome outcome = trial.run();
  check_sound(outcome.record);
  CHECK(outcome.record.ranks[2].down_s == Approx(repair_s).epsilon(1e-9));
  CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + 12 * ring_s).epsilon(1e-9));
}

TEST_CASE("all workers may crash at once and be repaired") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const double at_s = 9 * step_s + communicating_s;
    const Outcome outcome = with_crashes(trial, {crash(0, at_s), crash(1, at_s), crash(2, at_s), crash(3, at_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == trial.run().final_parameters());
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + 12 * step_s).epsilon(1e-9));
  }
}

TEST_CASE("the only worker may crash and be repaired") {
  Trial trial = fragile(single());
  trial.workers = 1;
  const double step_s = 4 * t_c + 2 * parts_d / speed;
  const Outcome outcome = with_crashes(trial, {crash(0, 9.5 * step_s)}).run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == trial.run().final_parameters());
  CHECK(outcome.record.simulated_s == Approx(9.5 * step_s + repair_s + 12 * step_s).epsilon(1e-9));
}

TEST_CASE("a crash at time 0 delays the start") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const Outcome outcome = with_crashes(trial, {crash(0, 0.0)}).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == trial.run().final_parameters());
    CHECK(outcome.record.simulated_s == Approx(repair_s + steps * step_s).epsilon(1e-9));
    CHECK(outcome.record.ranks[0].down_s == Approx(repair_s).epsilon(1e-9));
  }
}

TEST_CASE("a crash after the end changes nothing") {
  for (const auto& [name, program] : parallel_strategies()) {
    CAPTURE(name);
    const Trial trial = fragile(program);
    const Outcome far = with_crashes(trial, {crash(1, 1e3)}).run();
    const Outcome outcome = with_crashes(trial, {crash(1, far.record.simulated_s + 1e-6)}).run();
    check_sound(outcome.record);
    CHECK(outcome.record.simulated_s == far.record.simulated_s);
    CHECK(outcome.record.samples == far.record.samples);
    CHECK(outcome.record.bytes == far.record.bytes);
    CHECK(outcome.record.notes == far.record.notes);
    CHECK(outcome.final_parameters() == far.final_parameters());
    // Where crashes may come, all messages go over SimGrid's network.
    const Outcome undisturbed = trial.run();
    CHECK(outcome.record.simulated_s == Approx(undisturbed.record.simulated_s).epsilon(1e-9));
    CHECK(outcome.record.samples == undisturbed.record.samples);
    CHECK(relative_distance(outcome.final_parameters(), undisturbed.final_parameters()) < 1e-12);
  }
}

TEST_CASE("a training whose workers are all lost has failed, and says so") {
  for (const auto& [name, program] : parallel_strategies())
    for (const double apart_s : {0.0, 0.004, 0.03}) {  // at once, in one recovery, in one each
      CAPTURE(name, apart_s);
      std::vector<Crash> crashes;
      for (int rank = 0; rank < 4; ++rank) crashes.push_back(crash(rank, 0.02 + rank * apart_s, std::nullopt));
      Trial trial = with_crashes(fragile(program), crashes, Recovery::shrink);
      trial.stop.steps = 1000;
      const Outcome outcome = trial.run();
      CHECK(outcome.record.status == Status::failed);
      const bool servers_first = name == "asp, colocated" && apart_s > 0.0;  // they were on the first two hosts
      CHECK(outcome.record.error.starts_with(servers_first ? "no server is left" : "no worker is left"));
    }
}

TEST_CASE("an asynchronous server goes on from its last checkpoint") {
  Trial trial = fragile(parameter_server(Consistency::asp));
  trial.stop.steps = 80;
  const Outcome undisturbed = trial.run();
  for (const double share : {0.1, 0.5, 0.77}) {
    CAPTURE(share);
    const double at_s = share * undisturbed.record.simulated_s;
    const Outcome outcome = with_crashes(trial, {crash(2, at_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.record.steps == 80);
    CHECK(outcome.record.ranks[2].down_s == Approx(repair_s).epsilon(1e-9));
    // The others go on with the server until they know; then the repair's time is lost.
    const double lost_s = outcome.record.simulated_s - undisturbed.record.simulated_s;
    CHECK(lost_s > repair_s - 1.5 * detection_s);
    CHECK(lost_s < repair_s + detection_s);
    CHECK(outcome.record.samples >= 80 * 12);
    CHECK(*outcome.record.final_loss == Approx(*undisturbed.record.final_loss).epsilon(0.05));
  }
}

TEST_CASE("the curve steps back to the checkpoint after a crash, while time and samples only grow") {
  const double at_s = 9 * ring_s + t_c + 2.5 * hop_s;
  const Outcome outcome = with_crashes(fragile(ring_allreduce()), {crash(2, at_s)}).run();
  const auto& curve = outcome.record.curve;
  // 0 .. 9, then again from 8 to the end
  REQUIRE(curve.size() == 10 + 13);
  CHECK(curve[9].step == 9);
  CHECK(curve[10].step == 8);
  CHECK(curve[10].loss == curve[8].loss);
  CHECK(curve[10].simulated_s == Approx(at_s + repair_s).epsilon(1e-9));
  CHECK(curve[10].samples == 10 * 48);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    CHECK(curve[i].simulated_s >= curve[i - 1].simulated_s);
    CHECK(curve[i].samples >= curve[i - 1].samples);
  }
}

TEST_CASE("a recovery leaves no backtrace on the standard error") {
  const std::string path = fmt::format("/tmp/simgrad-stderr-{}", getpid());
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    const Trial trial = with_crashes(fragile(program), {crash(2, 9 * step_s + communicating_s)});
    const int kept = dup(STDERR_FILENO);
    std::FILE* file = std::fopen(path.c_str(), "w");
    dup2(fileno(file), STDERR_FILENO);
    const Outcome outcome = trial.run();
    dup2(kept, STDERR_FILENO);
    close(kept);
    std::fclose(file);
    std::ifstream written(path);
    const std::string text(std::istreambuf_iterator<char>(written), {});
    CHECK(text.find("Backtrace") == std::string::npos);
    unlink(path.c_str());
    check_sound(outcome.record);
  }
}

TEST_CASE("who waits for a host that never comes back fails, and does not shrink") {
  for (const Recovery recovery : {Recovery::restart, Recovery::wait}) {
    const Outcome outcome =
        with_crashes(fragile(ring_allreduce()), {crash(2, 0.01, {}), crash(1, 0.02)}, recovery).run();
    CHECK(outcome.record.status == record::Status::failed);
    CHECK(outcome.record.error.find("the host of rank 2 never comes back") != std::string::npos);
  }
}

TEST_CASE("changes of speed while all wait for a host count as the watchdog's events") {
  // Twice in each period, a million on a host until the lost one is back.
  Trial trial = with_crashes(fragile(byteps(2, 3)), {crash(3, 5e-6, 100.0)});
  trial.cluster.stragglers.choose("periodic");
  static_cast<cluster::Periodic&>(*trial.cluster.stragglers.object()).period_s = 200e-6;
  trial.cluster.watchdog.events = 20'000;
  CHECK(
      trial.run().record.error.starts_with("given up: 20000 bursts of background flows, failures or changes of speed"));
}

}  // namespace recovery_test

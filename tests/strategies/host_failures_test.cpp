// Hosts of several devices fail whole: one crash, one repair, one spare for all the ranks on them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cluster/failures/processes.h"
#include "scratch.h"
#include "strategies/fragile.h"
#include "strategies/hosts_of_devices.h"
#include "strategies/sharded/zero.h"

namespace host_failures_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr int devices = 2;

/// Four workers on two hosts of two devices each.
Trial on_two_hosts(training::Program program) {
  Trial trial = fragile(std::move(program));
  trial.cluster.workers = trial.workers;
  put_devices(trial.cluster, devices);
  return trial;
}

/// Seconds of a step. All steps take the same time, and none overlaps the one before.
double step_of(const Trial& trial) { return trial.run().record.simulated_s / steps; }

Trial failing(Trial trial, double mtbf_s) {
  auto process = std::make_unique<cluster::ExponentialFailures>();
  process->mean_s = mtbf_s;
  trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
  auto repair = std::make_unique<cluster::ConstantRepair>();
  repair->time_s = 0.01;
  trial.cluster.failures.repair = base::Slot<cluster::Repair>(cluster::repairs(), std::move(repair));
  return trial;
}

void check_down(const record::Record& record, const std::vector<double>& down_s) {
  for (std::size_t r = 0; r < down_s.size(); ++r) {
    CAPTURE(r);
    CHECK(record.ranks.at(r).down_s == Approx(down_s[r]).epsilon(1e-9).margin(1e-15));
  }
}

bool notes(const record::Record& record, const std::string& text) {
  return std::ranges::find(record.notes, text) != record.notes.end();
}

}  // namespace

TEST_CASE("a host goes down with all of its devices, and a restarted training loses the steps since the checkpoint") {
  for (const int rank : {2, 3}) {
    const Trial trial = on_two_hosts(ring_allreduce());
    const Outcome undisturbed = trial.run();
    const double step_s = step_of(trial), at_s = 9.5 * step_s;
    const Outcome outcome = with_crashes(trial, {crash(rank, at_s)}).run();
    CAPTURE(rank, outcome.record.error);
    check_sound(outcome.record);
    CHECK(outcome.record.crashes == 1);
    check_down(outcome.record, {0.0, 0.0, repair_s, repair_s});
    CHECK(outcome.record.simulated_s == Approx(at_s + repair_s + 12 * step_s).epsilon(1e-9));
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    CHECK(outcome.record.notes ==
          std::vector<std::string>{fmt::format("the host of ranks 2 and 3 crashed at {:.6g} s", at_s),
                                   fmt::format("resumed at {:.6g} s from step 8 with 4 workers", at_s + repair_s)});
  }
}

TEST_CASE("two crashes of one host at a time are one") {
  const Trial trial = on_two_hosts(ring_allreduce());
  const double at_s = 9.5 * step_of(trial);
  const Outcome once = with_crashes(trial, {crash(0, at_s)}).run();
  const Outcome twice = with_crashes(trial, {crash(0, at_s), crash(1, at_s)}).run();
  CHECK(twice.record.crashes == 1);
  CHECK(twice.record.notes == once.record.notes);
  CHECK(twice.record.simulated_s == once.record.simulated_s);
}

TEST_CASE("a host whose devices crash at one time is back once all of them are") {
  const Trial trial = on_two_hosts(ring_allreduce());
  const double step_s = step_of(trial), at_s = 9.5 * step_s;
  const std::vector<Crash> crashes{crash(2, at_s, repair_s), crash(3, at_s, 2 * repair_s)};
  for (const auto& order : {crashes, std::vector<Crash>(crashes.rbegin(), crashes.rend())}) {
    const Outcome outcome = with_crashes(trial, order).run();
    check_down(outcome.record, {0.0, 0.0, 2 * repair_s, 2 * repair_s});
    CHECK(outcome.record.simulated_s == Approx(at_s + 2 * repair_s + 12 * step_s).epsilon(1e-9));
  }
}

TEST_CASE("a host fails whole where any of its devices is of the class that fails") {
  Trial trial = failing(on_two_hosts(ring_allreduce()), 0.02);
  cluster::HostClass first, second;
  first.name = "old";
  first.count = 3;
  second.name = "new";
  second.count = 1;
  trial.cluster.host_classes = {first, second};
  const auto only = [&](const std::string& name) {
    auto process = std::make_unique<cluster::ExponentialFailures>();
    process->mean_s = 0.02;
    process->only_class = name;
    Trial changed = trial;
    changed.cluster.failures.hosts =
        base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
    return changed.run().record;
  };
  const record::Record of_second = only("new");
  REQUIRE(of_second.crashes.value() > 0);
  CHECK(of_second.ranks[0].down_s == 0.0);
  CHECK(of_second.ranks[2].down_s > 0.0);
  CHECK(of_second.ranks[3].down_s == of_second.ranks[2].down_s);
  CHECK(only("old").crashes == failing(trial, 0.02).run().record.crashes);  // both hosts have old ones
}

TEST_CASE("the others go on without both devices of a lost host") {
  const Trial trial = on_two_hosts(ring_allreduce());
  const double at_s = 9.5 * step_of(trial), back_s = 2 * detection_s;
  for (const Recovery recovery : {Recovery::shrink, Recovery::elastic}) {
    CAPTURE(cluster::name(recovery));
    const bool stays_away = recovery == Recovery::shrink;
    const Outcome outcome = with_crashes(trial, {crash(1, at_s, back_s)}, recovery).run();
    check_sound(outcome.record);
    CHECK(outcome.record.crashes == 1);
    CHECK(outcome.record.steps == steps);
    const double down_s = stays_away ? outcome.record.simulated_s - at_s : back_s;
    check_down(outcome.record, {down_s, down_s, 0.0, 0.0});
    const int step = stays_away ? 8 : 9;
    CHECK(notes(outcome.record,
                fmt::format("resumed at {:.6g} s from step {} with 2 workers", at_s + detection_s, step)));
    CHECK(outcome.record.notes.back().ends_with(stays_away ? "with 2 workers" : "with 4 workers"));
  }
}

TEST_CASE("asynchronous workers of a lost host are lost together and come back together") {
  Trial trial = on_two_hosts(parameter_server(Consistency::asp));
  trial.stop.steps = 80;
  const double at_s = 0.3 * trial.run().record.simulated_s;
  const Outcome outcome = with_crashes(trial, {crash(3, at_s)}, Recovery::keep_going).run();
  check_sound(outcome.record);
  CHECK(outcome.record.crashes == 1);
  check_down(outcome.record, {0.0, 0.0, repair_s, repair_s, 0.0});
}

TEST_CASE("both devices of a repaired host get the state of the others, which lost nothing") {
  const Trial trial = on_two_hosts(ring_allreduce());
  const Outcome undisturbed = trial.run();
  const double step_s = step_of(trial), at_s = 9.5 * step_s;
  const Outcome outcome = with_crashes(trial, {crash(0, at_s)}, Recovery::wait).run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  CHECK(notes(outcome.record, fmt::format("resumed at {:.6g} s from step 9 with 4 workers", at_s + repair_s)));
  const double restarted_s = with_crashes(trial, {crash(0, at_s)}).run().record.simulated_s;
  CHECK(outcome.record.simulated_s < restarted_s);
}

TEST_CASE("a sharded state whose host is lost is that of the checkpoint") {
  const Trial trial = on_two_hosts(strategies::program(around_a_ring<strategies::Zero>()));
  const double at_s = 9.5 * step_of(trial);
  const Outcome outcome = with_crashes(trial, {crash(0, at_s)}).run();
  check_sound(outcome.record);
  CHECK(notes(outcome.record, fmt::format("resumed at {:.6g} s from step 8 with 4 workers", at_s + repair_s)));
  CHECK(outcome.final_parameters() == trial.run().final_parameters());
}

TEST_CASE("hosts fail at their own rate, however many devices they have") {
  constexpr double mtbf_s = 0.05;
  double up_s = 0.0;
  int all = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    Trial trial = on_two_hosts(ring_allreduce());
    trial.stop.steps = 100;
    trial.seed = seed;
    const Outcome outcome = failing(trial, mtbf_s).run();
    check_sound(outcome.record);
    all += static_cast<int>(outcome.record.crashes.value());
    for (std::size_t r = 0; r < outcome.record.ranks.size(); r += devices) {
      up_s += outcome.record.simulated_s - outcome.record.ranks[r].down_s;
      CHECK(outcome.record.ranks[r].down_s == outcome.record.ranks[r + 1].down_s);
    }
  }
  const double expected = up_s / mtbf_s;
  REQUIRE(expected > 20.0);
  CHECK(all == Approx(expected).margin(3.0 * std::sqrt(expected)));
}

TEST_CASE("the MTBF of a job is that of its hosts, each with all of its devices") {
  Trial trial = failing(on_two_hosts(parameter_server(Consistency::bsp)), 1000.0);  // and the server's host
  trial.cluster.storage_bandwidth_bytes_per_s = 1e6;
  trial.training.checkpoint_every_steps = 0;
  trial.training.checkpoint_every = "young";
  CHECK(trial.run().record.notes.front().find("MTBF of the job 333.333 s") != std::string::npos);
}

TEST_CASE("a trace numbers hosts, each with all of its devices") {
  const Scratch scratch;
  auto trace = std::make_unique<cluster::TracedFailures>();
  trace->path = scratch.write("t.csv", "host,down_at,up_at\n1,0.01,0.015\n2,0.03,0.05\n");
  Trial trial = on_two_hosts(parameter_server(Consistency::bsp));
  trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(trace));
  trial.cluster.failures.detection_s = 0.001;
  const Outcome outcome = trial.run();
  check_sound(outcome.record);
  check_down(outcome.record, {0.0, 0.0, 0.005, 0.005, 0.02});  // the last is the server's
}

TEST_CASE("a spare host takes the place of all devices of the lost one") {
  Trial trial = on_two_hosts(ring_allreduce());
  trial.cluster.failures.spares = 1;
  const double step_s = step_of(trial), at_s = 9.5 * step_s;
  const Outcome outcome = with_crashes(trial, {crash(3, at_s, 1000.0)}).run();
  check_sound(outcome.record);
  CHECK(outcome.record.simulated_s == Approx(at_s + detection_s + 12 * step_s).epsilon(1e-9));
  check_down(outcome.record, {0.0, 0.0, detection_s, detection_s});
  CHECK(notes(outcome.record,
              fmt::format("a spare host took the place of the host of ranks 2 and 3 at {:.6g} s", at_s + detection_s)));
}

TEST_CASE("a spare takes the place of a host that has a worker and a server") {
  const auto colocated = named<strategies::ParameterServer>("", [](strategies::ParameterServer& options) {
    options.shards = 2;
    options.placement = strategies::Placement::colocated;
  });
  Trial trial = fragile(colocated.plain());
  const Outcome undisturbed = trial.run();
  const double at_s = 0.4 * undisturbed.record.simulated_s;
  trial.cluster.failures.spares = 1;
  const Outcome outcome = with_crashes(trial, {crash(1, at_s, 1000.0)}).run();
  check_sound(outcome.record);
  check_down(outcome.record, {0.0, detection_s, 0.0, 0.0, 0.0, detection_s});
  CHECK(relative_distance(outcome.final_parameters(), undisturbed.final_parameters()) < 1e-12);
}

}  // namespace host_failures_test

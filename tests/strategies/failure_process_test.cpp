// Hosts that fail by themselves, again and again.
#include <fmt/format.h>

#include "cluster/failures/fault_trace.h"
#include "cluster/failures/processes.h"
#include "scratch.h"
#include "strategies/fragile.h"

namespace failure_process_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;

namespace {

Trial with_process(Trial trial, double mtbf_s, std::optional<double> repaired_s, Recovery recovery) {
  auto process = std::make_unique<cluster::ExponentialFailures>();
  process->mean_s = mtbf_s;
  trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
  if (repaired_s) {
    auto repair = std::make_unique<cluster::ConstantRepair>();
    repair->time_s = *repaired_s;
    trial.cluster.failures.repair = base::Slot<cluster::Repair>(cluster::repairs(), std::move(repair));
  }
  trial.cluster.failures.recovery = recovery;
  return trial;
}

int crashes(const record::Record& record) { return static_cast<int>(record.crashes.value()); }

}  // namespace

TEST_CASE(
    "workers and servers fail at the rate of their hosts, and a restarted training ends at the undisturbed "
    "parameters") {
  for (const auto& [name, program, step_s, communicating_s] : synchronous()) {
    CAPTURE(name);
    Trial trial = fragile(program);
    trial.stop.steps = 60;
    const Outcome undisturbed = trial.run();
    int all = 0;
    double up_s = 0.0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      trial.seed = seed;
      const Outcome calm = trial.run();
      const Outcome outcome = with_process(trial, 0.2, 0.01, Recovery::restart).run();
      check_sound(outcome.record);
      CHECK(outcome.final_parameters() == calm.final_parameters());
      all += crashes(outcome.record);
      for (const auto& rank : outcome.record.ranks) up_s += outcome.record.simulated_s - rank.down_s;
    }
    const double expected = up_s / 0.2;
    CHECK(all == Approx(expected).margin(3.5 * std::sqrt(expected)));
  }
}

TEST_CASE("a failure process is the seed's, not the run's") {
  const Trial trial = with_process(fragile(ring_allreduce()), 0.05, 0.01, Recovery::elastic);
  const Outcome a = trial.run();
  const Outcome b = trial.run();
  check_sound(a.record);
  CHECK(a.record.notes == b.record.notes);
  CHECK(a.final_parameters() == b.final_parameters());
  Trial other = trial;
  other.seed = 2;
  CHECK(other.run().record.notes != a.record.notes);
}

TEST_CASE("a trace crashes hosts when it says, and a class keeps others out") {
  const Scratch scratch;
  auto trace = std::make_unique<cluster::TracedFailures>();
  trace->path =
      scratch.write("t.csv", fmt::format("host,down_at,up_at\n2,{0},{1}\n4,{2},{3}\n", 0.01, 0.015, 0.03, 0.05));
  Trial trial = fragile(parameter_server(Consistency::bsp));
  const Outcome undisturbed = trial.run();
  trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(trace));
  trial.cluster.failures.detection_s = 0.001;
  const Outcome outcome = trial.run();
  check_sound(outcome.record);
  CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  CHECK(outcome.record.ranks[2].down_s == Approx(0.005).epsilon(1e-9));
  CHECK(outcome.record.ranks[4].down_s == Approx(0.02).epsilon(1e-9));
  auto process = std::make_unique<cluster::ExponentialFailures>();
  process->mean_s = 1e-3;
  process->only_class = "spot";
  trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
  CHECK(crashes(trial.run().record) == 0);
}

TEST_CASE("faults of another cluster crash the hosts that the seed draws, for as long as they lasted there") {
  const Scratch scratch;
  // Two of six servers, in a trace of 86.4 ms that begins again and again.
  const std::string file = scratch.write(
      "t.csv", "server,start_day,end_day,level,class\n0,1e-7,2e-7,x,y\n5,3e-7,3.5e-7,x,y\n0,7e-7,7.5e-7,x,y\n");
  const cluster::FaultTrace trace(file, {.servers = 6, .days = 1e-6});
  int all = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    Trial trial = fragile(ring_allreduce());
    trial.stop.steps = 60;
    trial.seed = seed;
    const Outcome undisturbed = trial.run();
    auto traced = std::make_unique<cluster::TracedFailures>();
    traced->path = file;
    traced->servers = 6;
    traced->days = 1e-6;
    trial.cluster.failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(traced));
    trial.cluster.failures.detection_s = 0.001;
    const Outcome outcome = trial.run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
    const double end_s = outcome.record.simulated_s;
    for (int host = 0; host < static_cast<int>(outcome.record.ranks.size()); ++host) {
      double down_s = 0.0;
      for (std::int64_t count = 0;; ++count) {
        const auto outage = trace.outage(host, count, seed);
        if (!outage || outage->down_s >= end_s) break;
        down_s += std::min(*outage->up_s, end_s) - outage->down_s;
      }
      CHECK(outcome.record.ranks[static_cast<std::size_t>(host)].down_s == Approx(down_s).margin(1e-9));
    }
    all += crashes(outcome.record);
  }
  CHECK(all > 4);
}

TEST_CASE("hosts that fail faster than anything gets done end in a failure that says why") {
  for (const auto& [name, program, recovery] :
       {std::tuple("allreduce", ring_allreduce(), Recovery::restart),
        std::tuple("allreduce", ring_allreduce(), Recovery::elastic),
        std::tuple("asp", parameter_server(Consistency::asp), Recovery::keep_going),
        std::tuple("gossip", gossip("ring", GossipUpdate::combine_then_adapt), Recovery::keep_going)}) {
    CAPTURE(name, cluster::name(recovery));
    const Outcome outcome = with_process(fragile(program), 2e-5, 1e-5, recovery).run();
    CHECK(outcome.record.status == Status::failed);
    CHECK(outcome.record.error.find("no progress: 1000 crashes since step") != std::string::npos);
    const std::string& first = outcome.record.notes.front();
    CHECK(outcome.record.notes.size() == (first.starts_with("stop.steps = 20: a step is ") ? 12U : 11U));
    CHECK(outcome.record.notes.back().starts_with("and "));
  }
}

TEST_CASE("hosts that are never repaired are used up") {
  for (const auto& [name, program] : parallel_strategies()) {
    CAPTURE(name);
    Trial trial = fragile(program);
    trial.stop.steps = 100'000;
    const Outcome outcome = with_process(trial, 0.02, {}, Recovery::shrink).run();
    CHECK(outcome.record.status == Status::failed);
    CHECK((outcome.record.error.starts_with("no worker is left") ||
           outcome.record.error.starts_with("no server is left")));
  }
}

TEST_CASE("links that fail delay everybody and lose nothing") {
  for (const auto& [name, program] : parallel_strategies()) {
    if (name == "K-batch-sync") continue;  // two shards may go by different gradients then, and wait for each other
    CAPTURE(name);
    Trial trial = fragile(program);
    const Outcome undisturbed = trial.run();
    auto process = std::make_unique<cluster::ExponentialFailures>();
    process->mean_s = 0.05;
    trial.cluster.failures.links =
        base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
    auto repair = std::make_unique<cluster::ConstantRepair>();
    repair->time_s = 0.01;
    trial.cluster.failures.link_repair = base::Slot<cluster::Repair>(cluster::repairs(), std::move(repair));
    const Outcome outcome = trial.run();
    check_sound(outcome.record);
    CHECK(outcome.record.simulated_s > undisturbed.record.simulated_s);
    if (program.traits(4).lockstep()) CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

}  // namespace failure_process_test

// A fleet's training, whose steps are not simulated one by one, against the run that simulates each.
#include <utility>

#include "capacity/fleet.h"
#include "cluster/failures/processes.h"
#include "strategies/mesh_trial.h"

namespace one_by_one_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr int hosts = 4;

/// Four ranks share the products of a perceptron: all end a step, and write a checkpoint, at one time.
MeshTrial shared_products(bool async) {
  MeshTrial trial = perceptron_trial();
  trial.strategy = std::make_shared<strategies::Allreduce>();
  trial.data = {};
  trial.parallel.tensor = hosts;
  trial.workers = hosts;
  trial.steps = 400;
  trial.training.numbers = false;
  trial.training.checkpoint_every_steps = 10;
  trial.training.checkpoint_async = async;
  return trial;
}

/// The bytes of a checkpoint of one rank's part.
double checkpoint_bytes(MeshTrial trial) {
  constexpr double bytes_per_s = 1e6;
  trial.steps = 11;
  trial.training.checkpoint_async = false;
  trial.cluster.storage_bandwidth_bytes_per_s = bytes_per_s;
  return *trial.run().record.checkpoint_s * bytes_per_s;
}

}  // namespace

TEST_CASE("a training of a cut model on a fleet with spares ends when the run of its single steps ends") {
  for (const bool async : {false, true})
    for (const std::int64_t spares : {0, 1, 3}) {
      CAPTURE(async, spares);
      MeshTrial trial = shared_products(async);
      trial.steps = 1;
      const double step_s = trial.run().record.simulated_s;
      trial.steps = 400;
      const double write_s = 2.5 * step_s, copy_s = 0.5 * step_s, bytes = checkpoint_bytes(trial);
      trial.cluster.storage_bandwidth_bytes_per_s = bytes / write_s;
      if (async) trial.cluster.host_memory_bandwidth_bytes_per_s = bytes / copy_s;
      cluster::FailureOptions& failures = trial.cluster.failures;
      auto process = std::make_unique<cluster::ExponentialFailures>();
      process->mean_s = 300.0 * step_s;
      auto repair = std::make_unique<cluster::ConstantRepair>();
      repair->time_s = 40.0 * step_s;
      const capacity::FleetOptions options{.hosts = hosts,
                                           .spares = static_cast<int>(spares),
                                           .horizon_s = 1e9,
                                           .until_done = true,
                                           .detection_s = 0.2 * step_s,
                                           .restart_s = 0.7 * step_s + write_s,
                                           .checkpoint_s = async ? copy_s : write_s,
                                           .checkpoint_write_s = async ? write_s : 0.0};
      const capacity::FleetOutcome fleet =
          capacity::simulate(options, {.failures = *process, .repair = *repair},
                             {{.hosts = hosts, .work_s = 400 * step_s, .interval_s = 10 * step_s}});
      failures.detection_s = 0.2 * step_s;
      failures.restart_time_s = 0.7 * step_s;
      failures.spares = spares;
      failures.hosts = base::Slot<cluster::FailureProcess>(cluster::failure_processes(), std::move(process));
      failures.repair = base::Slot<cluster::Repair>(cluster::repairs(), std::move(repair));
      const record::Record run = trial.run().record;
      REQUIRE(run.error.empty());
      CHECK(fleet.jobs.front().failures > 3);
      CHECK(*run.crashes == fleet.jobs.front().failures);
      CHECK(run.simulated_s == Approx(fleet.end_s).epsilon(1e-9));
    }
}

}  // namespace one_by_one_test

// Sharded and replicated training on hosts with several NICs: as fast as with one of their bandwidth, with the same
// numbers.
#include <memory>

#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "strategies/fragile.h"
#include "strategies/mesh_trial.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

namespace nics_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Collectives;
using collectives::Rings;
using training::Precision;

namespace {

constexpr int devices = 4;

template <class Hosts>
base::Slot<cluster::Topology> hosts_of_devices(std::int64_t nics) {
  auto hosts = std::make_unique<Hosts>();
  hosts->devices = devices;
  hosts->nics = nics;
  hosts->nvlink_bandwidth_bytes_per_s = 1e10;
  hosts->nvlink_latency_s = 1e-6;
  return base::Slot<cluster::Topology>(cluster::topologies(), std::move(hosts));
}

training::Program fsdp(const Rings& rings) {
  auto strategy = std::make_shared<strategies::Fsdp>();
  strategy->rings = rings;
  return strategies::program(strategy);
}

training::Program zero(std::int64_t stage, const Rings& rings) {
  auto strategy = std::make_shared<strategies::Zero>();
  strategy->stage = stage;
  strategy->bucket_bytes.reset();
  strategy->rings = rings;
  return strategies::program(strategy);
}

training::Program ring(const Rings& rings) {
  auto strategy = around_a_ring<strategies::Allreduce>();
  auto algorithm = std::make_unique<collectives::Ring>();
  algorithm->rings = rings;
  strategy->algorithm = base::Slot<collectives::Allreduce>(collectives::allreduces(), std::move(algorithm));
  return strategies::program(strategy);
}

std::vector<training::Program> programs(const Rings& rings) {
  return {ring(rings), zero(1, rings), zero(2, rings), zero(3, rings), fsdp(rings)};
}

/// Eight devices in two hosts.
Trial small(training::Program program) {
  Trial trial = fragile(std::move(program));
  trial.cluster.workers = trial.workers = 2 * devices;
  trial.rows = 96;
  trial.features = 37;
  trial.cluster.topology = hosts_of_devices<cluster::GpuHosts>(devices);
  trial.stop.steps = 6;
  trial.training.checkpoint_every_steps = 2;
  return trial;
}

}  // namespace

TEST_CASE("with k NICs strategies take what they take with one of k times the bandwidth") {
  for (const training::Program& program : programs({}))
    for (const int k : {2, 4}) {
      CAPTURE(k);
      Trial trial = small(program);
      trial.features = 8 * k * 10'000;  // equal parts of equal chunks
      trial.training.numbers = false;
      trial.cluster.topology = hosts_of_devices<cluster::GpuHosts>(k);
      const double several_s = trial.run().record.simulated_s;
      trial.cluster.topology = hosts_of_devices<cluster::GpuHosts>(1);
      const double one_s = trial.run().record.simulated_s;
      trial.cluster.host_spec.bandwidth_bytes_per_s *= k;
      CHECK(several_s == Approx(trial.run().record.simulated_s).epsilon(1e-9));
      CHECK(several_s < 1.2 / k * one_s);
    }
}

TEST_CASE("strategies with a ring for each NIC train the parameters of one ring, and one can be asked for") {
  const std::vector<training::Program> several = programs({}), one = programs(1);
  for (std::size_t i = 0; i < several.size(); ++i) {
    CAPTURE(i);
    Trial trial = small(several[i]);
    const Outcome all = trial.run();
    trial.program = one[i];
    const Outcome single = trial.run();
    CHECK(relative_distance(all.final_parameters(), single.final_parameters()) < 1e-12);
    CHECK(all.record.simulated_s < 0.9 * single.record.simulated_s);
    CHECK(all.record.bytes == single.record.bytes);
    trial.cluster.topology = hosts_of_devices<cluster::GpuHosts>(1);
    CHECK(trial.run().record.simulated_s == single.record.simulated_s);
  }
}

TEST_CASE("rings for all NICs are the same by messages, in bfloat16 and in pods, and after a crash") {
  for (const training::Program& program : programs({}))
    for (const Precision precision : {Precision::float64, Precision::bfloat16})
      for (const bool pod : {false, true})
        for (const bool crashes : {false, true}) {
          CAPTURE(static_cast<int>(precision), pod, crashes);
          Trial trial = small(program);
          trial.training.precision = precision;
          if (pod) trial.cluster.topology = hosts_of_devices<cluster::Pod>(devices);
          const Outcome undisturbed = trial.run();
          if (crashes) trial = with_crashes(trial, {crash(3, 0.6 * undisturbed.record.simulated_s)});
          const Outcome computed = trial.run();
          trial.cluster.collectives = Collectives::messages;
          const Outcome sent = trial.run();
          CHECK(computed.record.error.empty());
          CHECK(computed.record.simulated_s == Approx(sent.record.simulated_s).epsilon(1e-9));
          CHECK(computed.record.bytes == sent.record.bytes);
          CHECK(computed.final_parameters() == sent.final_parameters());
          CHECK(computed.final_parameters() == undisturbed.final_parameters());
        }
}

// Data 4 x tensor 2 on hosts of four devices: a replica's part is on two devices of each host, which have two NICs.
TEST_CASE("on a mesh the ranks with one part have a ring for each NIC that they use") {
  auto model = std::make_shared<models::Perceptron>();
  model->hidden = {16};
  MeshTrial trial{.model = model, .problem = {.features = 4}, .strategy = around_a_ring<strategies::Allreduce>()};
  trial.rows = trial.batch = 32;
  trial.cluster.workers = trial.workers = 2 * devices;
  trial.parallel.tensor = 2;
  trial.parallel.simulate = strategies::Simulate::all;
  trial.training.numbers = false;
  trial.cluster.host_spec.bandwidth_bytes_per_s = slow_B;
  trial.cluster.topology = hosts_of_devices<cluster::GpuHosts>(devices);
  const double several_s = trial.run().record.simulated_s;
  trial.cluster.collectives = Collectives::messages;
  CHECK(several_s == Approx(trial.run().record.simulated_s).epsilon(1e-9));
  trial.cluster.collectives = Collectives::automatic;
  trial.cluster.topology =
      hosts_of_devices<cluster::GpuHosts>(2);  // of both replicas' parts, devices 0 and 2 share one
  CHECK(trial.run().record.simulated_s > several_s);
}

// A rank's sum of a bucket, which goes beside its backward pass, is on its NVLink together with its sums with its
// tensor rank.
TEST_CASE("on NVLink sums of buckets beside those of tensor ranks take the times of messages") {
  for (const std::int64_t bucket : {1000, 8000}) {
    MeshTrial trial = transformer_trial(2, false);
    auto strategy = around_a_ring<strategies::Allreduce>();
    strategy->bucket_bytes = static_cast<double>(bucket);
    trial.strategy = strategy;
    trial.parallel.tensor = 2;
    trial.workers = 4;
    auto hosts = std::make_unique<cluster::GpuHosts>();
    hosts->nvlink_bandwidth_bytes_per_s = 1e6;
    trial.cluster.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(hosts));
    const double computed_s = trial.run().record.simulated_s;
    trial.cluster.collectives = Collectives::messages;
    CHECK(computed_s == Approx(trial.run().record.simulated_s).epsilon(1e-9));
  }
}

}  // namespace nics_test

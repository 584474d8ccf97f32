/// Hosts of several devices, whose links are faster than the network, for tests of hosts_first.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cluster/topologies/star.h"
#include "strategies/hosts/hosts_first.h"
#include "strategies/programs.h"

namespace simgrad::tests {

constexpr int g = 4;  // devices of a host
constexpr double device_B = 1e10;
constexpr double device_alpha = 5e-6;

inline void put_devices(cluster::Options& options, int devices = g) {
  auto star = std::make_unique<cluster::Star>();
  star->devices_per_host = devices;
  star->device_bandwidth_bytes_per_s = device_B;
  star->device_latency_s = device_alpha;
  options.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(star));
}

inline training::Program on_hosts(std::shared_ptr<const strategies::Strategy> strategy, int devices = g) {
  return strategies::program(std::make_shared<strategies::HostsFirst>(std::move(strategy), devices));
}

/// As many hosts as the trial has workers, with devices each.
inline Trial on_devices(Trial trial, training::Program program, int devices = g) {
  trial.workers *= devices;
  trial.cluster.workers = trial.workers;
  trial.program = std::move(program);
  put_devices(trial.cluster, devices);
  return trial;
}

/// A strategy by the name of its test.
struct Case {
  std::string name;
  std::shared_ptr<const strategies::Strategy> strategy;

  training::Program plain() const { return strategies::program(strategy); }
  training::Program on_hosts(int devices = g) const { return tests::on_hosts(strategy, devices); }
};

template <class Kind>
Case named(
    const std::string& name, const std::function<void(Kind&)>& change = [](Kind&) {}) {
  auto strategy = around_a_ring<Kind>();
  change(*strategy);
  return {name, strategy};
}

}  // namespace simgrad::tests

/// Star: every host has one full-duplex NIC to a switch that never blocks; inside, a host may have several devices.
///
/// Cost: a message takes latency + bytes / bandwidth; flows contend only at a sender's or a receiver's NIC. Between two
/// devices of a host it takes the devices' latency and bandwidth instead, and does not use the NIC.
#pragma once

#include <optional>

#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

struct Star : Topology {
  static constexpr base::About about{
      .kind = "star",
      .summary = "every host has one full-duplex NIC to a switch that never blocks; its devices share it",
      .cost = "latency + bytes / bandwidth; contention only at the NICs",
      .source = ""};

  std::int64_t devices_per_host = 1;
  std::optional<double> device_bandwidth_bytes_per_s;  ///< each device's, each direction, to the others of its host
  std::optional<double> device_latency_s;              ///< one way, between devices of a host

  void describe(base::Describer& d) override;
  bool has_localities() const override { return devices_per_host > 1; }
  /// Behind the machines full of workers come those of one host each.
  int locality(int host, int workers) const override {
    return host < workers ? host / static_cast<int>(devices_per_host) : host;
  }
  bool inside_host(int from, int to, int workers) const override {
    return locality(from, workers) == locality(to, workers);
  }
  bool even_latencies() const override { return devices_per_host == 1; }
  bool disturbs() const override { return devices_per_host > 1; }
  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  std::vector<simgrid::s4u::Host*> build(const Blueprint& blueprint) const override;
};

}  // namespace simgrad::cluster

/// Hosts of several devices on a switch of their own (NVLink), each host with several NICs.
#pragma once

#include "cluster/topologies/device_hosts.h"

namespace simgrad::cluster {

/// Links: nvlink-i from device i to its host's switch, half of nvlink_latency each; nic-j from a host to the network,
/// half of cluster.latency each, at cluster.bandwidth. A message to another host does not cross the switch
/// (GPUDirect): device i of a host takes NIC i mod nics, at both ends. Servers are hosts of one device and one NIC.
struct GpuHosts : DeviceHosts {
  static constexpr base::About about{
      .kind = "gpu_hosts",
      .summary = "hosts of several devices on an NVLink-like switch, each host with several NICs",
      .cost =
          "nvlink_latency + bytes / nvlink_bandwidth within a host; latency + bytes / bandwidth between hosts, devices "
          "of "
          "one NIC sharing it",
      .source = ""};

  GpuHosts() : DeviceHosts(1, 300e9) {}
  void describe(base::Describer& d) override;
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;
};

}  // namespace simgrad::cluster

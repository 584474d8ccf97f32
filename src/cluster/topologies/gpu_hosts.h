/// Hosts of several devices on a switch of their own (NVLink), each host with several NICs.
#pragma once

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// Links: nvlink-i from device i to its host's switch, half of nvlink_latency each; nic-j from a host to the network,
/// half of cluster.latency each, at cluster.bandwidth. A message to another host does not cross the switch
/// (GPUDirect): device i of a host takes NIC i mod nics, at both ends. Servers are hosts of one device and one NIC.
struct GpuHosts : Wired {
  static constexpr base::About about{
      .kind = "gpu_hosts",
      .summary = "hosts of several devices on an NVLink-like switch, each host with several NICs",
      .cost =
          "nvlink_latency + bytes / nvlink_bandwidth within a host; latency + bytes / bandwidth between hosts, devices "
          "of "
          "one NIC sharing it",
      .source = ""};

  std::int64_t devices = 8;
  std::int64_t nics = 1;
  double nvlink_bandwidth_bytes_per_s = 300e9;
  double nvlink_latency_s = 2e-6;

  void describe(base::Describer& d) override;
  void set_device_bandwidth(double bytes_per_s) override { nvlink_bandwidth_bytes_per_s = bytes_per_s; }
  bool has_localities() const override { return true; }
  int locality(int host, int workers) const override;
  bool inside_host(int from, int to, int workers) const override {
    return locality(from, workers) == locality(to, workers);
  }
  int nic(int host, int workers) const override;
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;
};

}  // namespace simgrad::cluster

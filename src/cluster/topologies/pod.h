/// Pod: GPU hosts whose NICs go to leaf switches, by rails or by racks, and the leaf switches to spine switches.
///
/// Source: NVIDIA DGX SuperPOD Reference Architecture (DGX H100), 2023: 32 hosts of 8 GPUs and 8 NICs a scalable unit,
/// one leaf switch a rail.
#pragma once

#include <optional>

#include "cluster/topologies/device_hosts.h"
#include "cluster/topologies/routing.h"

namespace simgrad::cluster {

/// Links: nvlink-i from device i to its host's switch, half of nvlink_latency each; nic-j from a host to a leaf switch,
/// half of cluster.latency, at cluster.bandwidth; spine-k from a leaf switch to a spine switch, every leaf to every
/// spine. A leaf's links upwards have together the bandwidth of its links downwards (when its group is full) divided by
/// the oversubscription.
///
/// Path: within a host by its switch. Else device i takes NIC i mod nics, at both ends, without crossing the host's
/// switch (GPUDirect). With rails NIC j of every host of a group goes to leaf j of the group, so that the message stays
/// on one leaf where group and rail are the same; without rails all NICs of a group's hosts go to its one leaf. Between
/// leaves it crosses one spine, chosen by the receiver's place (its host's number with rails, else its NIC's) mod
/// spines, or by a hash of the two ranks. With pxn a message to another rail goes first by NVLink to the device of its
/// own host on the receiver's rail (as NCCL's PXN does), and only then to the NIC.
///
/// Servers are hosts of one device and one NIC behind the workers' hosts, on rail (number of the server) mod nics.
struct Pod : DeviceHosts {
  static constexpr base::About about{
      .kind = "pod",
      .summary =
          "hosts of several GPUs, each with several NICs, on leaf switches by rails or racks, and spine switches",
      .cost =
          "nvlink_latency + bytes / nvlink_bandwidth within a host; latency + bytes / bandwidth on one leaf; 2 "
          "link_latency more across a spine; bisection bandwidth (NICs / 2) bandwidth / oversubscription, groups even",
      .source = "NVIDIA DGX SuperPOD Reference Architecture, 2023"};

  std::int64_t hosts_per_group = 32;
  bool rails = true;
  double oversubscription = 1.0;
  std::optional<std::int64_t> spines;    ///< none: as many as make a link upwards no slower than a NIC
  std::optional<double> link_latency_s;  ///< one way, between leaf and spine; none: half of cluster.latency
  Routing routing = Routing::destination;
  bool pxn = false;

  Pod() : DeviceHosts(8, 450e9) {}
  void describe(base::Describer& d) override;
  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  std::string workers_refusal(std::int64_t workers) const override;
  std::string unfilled(int hosts, int workers) const override;
  double longest_latency_s(const HostSpec& machine, std::int64_t) const override {
    return nvlink_latency_s + machine.latency_s + 2.0 * link_latency_s.value_or(machine.latency_s / 2.0);
  }
  std::vector<std::string> hashed_links() const override;
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;

  /// NICs of a leaf switch whose group is full.
  std::int64_t downlinks() const { return rails ? hosts_per_group : hosts_per_group * nics; }
  std::int64_t spine_switches() const;
};

}  // namespace simgrad::cluster

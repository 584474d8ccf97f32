/// Hosts of several devices: which host and which NIC a rank's device has.
#pragma once

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// Workers take the devices in their order, host by host; device i of a host takes NIC i mod nics. Each server is a
/// host by itself.
struct DeviceHosts : Wired {
  std::int64_t devices = 8;
  std::int64_t nics = 1;
  double nvlink_bandwidth_bytes_per_s = 300e9;
  double nvlink_latency_s = 2e-6;

  void set_device_bandwidth(double bytes_per_s) override { nvlink_bandwidth_bytes_per_s = bytes_per_s; }
  bool has_localities() const override { return true; }
  int locality(int host, int workers) const override {
    return host < workers ? host / static_cast<int>(devices) : host;
  }
  bool inside_host(int from, int to, int workers) const override {
    return locality(from, workers) == locality(to, workers);
  }
  int nic(int host, int workers) const override {
    return host < workers ? host % static_cast<int>(devices) % static_cast<int>(nics) : 0;
  }

 protected:
  DeviceHosts(std::int64_t nics_of_host, double nvlink_bytes_per_s)
      : nics(nics_of_host), nvlink_bandwidth_bytes_per_s(nvlink_bytes_per_s) {}
  void describe_nvlink(base::Describer& d);
  void refuse_idle_nics(base::Describer& d) const;
};

}  // namespace simgrad::cluster

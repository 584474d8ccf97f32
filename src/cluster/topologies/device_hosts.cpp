#include "cluster/topologies/device_hosts.h"

#include <fmt/format.h>

namespace simgrad::cluster {

using base::Bounds;
using base::Unit;

void DeviceHosts::describe_nvlink(base::Describer& d) {
  d.quantity("nvlink_bandwidth", nvlink_bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth of each device to the others of its host, each direction",
             Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.quantity("nvlink_latency", nvlink_latency_s, Unit::seconds, "latency between devices of a host, one way",
             Bounds::between(0, 1e6));
}

void DeviceHosts::refuse_idle_nics(base::Describer& d) const {
  if (nics > devices)
    d.refuse("nics", fmt::format("{} NICs for {} devices; expected at most one a device", nics, devices));
}

}  // namespace simgrad::cluster

#include "cluster/topologies/gpu_hosts.h"

#include <algorithm>

namespace simgrad::cluster {

using base::Bounds;

namespace {

/// Numbers the nodes behind the devices: the switches of the hosts, the NICs of each, the network.
struct Nodes {
  Nodes(const GpuHosts& gpu_hosts, const Blueprint& blueprint)
      : kind(gpu_hosts),
        devices(static_cast<int>(gpu_hosts.devices)),
        nics(static_cast<int>(gpu_hosts.nics)),
        ranks(blueprint.hosts),
        workers(std::min(blueprint.workers, blueprint.hosts)),
        boxes((workers + devices - 1) / devices) {}

  int box(int device) const { return kind.locality(device, workers); }
  int inside(int device) const { return ranks + box(device); }
  int nic(int device) const {
    return device < workers ? ranks + boxes + box(device) * nics + kind.nic(device, workers) : device;
  }
  int network() const { return ranks + boxes + boxes * nics; }

  const GpuHosts& kind;
  int devices, nics, ranks, workers, boxes;
};

}  // namespace

void GpuHosts::describe(base::Describer& d) {
  d.integer("devices", devices, "the number of workers that share a host, each at cluster.speed",
            Bounds::between(1, most_hosts));
  d.integer("nics", nics,
            "NICs of each host; device i takes NIC i mod nics; default: the number for cluster.device in the "
            "catalogue, else 1",
            Bounds::between(1, most_hosts));
  describe_nvlink(d);
  refuse_idle_nics(d);
}

std::vector<Cable> GpuHosts::cables(const Blueprint& blueprint) const {
  const HostSpec& nic = blueprint.host_spec;
  const Nodes nodes(*this, blueprint);
  std::vector<Cable> all;
  for (int device = 0; device < nodes.workers; ++device)
    all.push_back({device, nodes.inside(device), "nvlink", nvlink_bandwidth_bytes_per_s, nvlink_latency_s / 2.0});
  const auto add_nic = [&](int node) {
    all.push_back({node, nodes.network(), "nic", nic.bandwidth_bytes_per_s, nic.latency_s / 2.0});
  };
  for (int i = 0; i < nodes.boxes * nodes.nics; ++i) add_nic(nodes.ranks + nodes.boxes + i);
  for (int server = nodes.workers; server < nodes.ranks; ++server) add_nic(server);
  return all;
}

std::vector<int> GpuHosts::path(const Blueprint& blueprint, int from, int to) const {
  const Nodes nodes(*this, blueprint);
  if (from < nodes.workers && to < nodes.workers && nodes.box(from) == nodes.box(to))
    return {from, nodes.inside(from), to};
  return {from, nodes.nic(from), nodes.network(), nodes.nic(to), to};
}

}  // namespace simgrad::cluster

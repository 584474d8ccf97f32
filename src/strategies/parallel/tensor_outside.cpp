#include "strategies/parallel/tensor_outside.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/units.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"

namespace simgrad::strategies {

namespace {

/// A topology of hosts with several devices, and its cables by their ends.
class Hosts {
 public:
  Hosts(const cluster::Wired& wired, const cluster::Options& options)
      : wired_(wired),
        blueprint_{.host_spec = options.host_spec,
                   .hosts = static_cast<int>(options.workers),
                   .workers = static_cast<int>(options.workers)} {}

  int host(int rank) const { return wired_.locality(rank, blueprint_.workers); }
  /// The devices of the first host.
  int devices() const {
    int count = 1;
    while (count < blueprint_.workers && host(count) == host(0)) ++count;
    return count;
  }
  bool has_all_in_one(const std::vector<int>& ranks) const {
    return std::ranges::all_of(ranks, [&](int rank) { return host(rank) == host(ranks.front()); });
  }
  std::size_t hosts_of(const std::vector<int>& ranks) const {
    std::set<int> all;
    for (const int rank : ranks) all.insert(host(rank));
    return all.size();
  }
  /// The bandwidth of the slowest cable from a rank to another.
  double bytes_per_s(int from, int to) {
    if (cables_.empty())
      for (const cluster::Cable& cable : wired_.cables(blueprint_))
        cables_[std::minmax(cable.from, cable.to)] = cable.bandwidth_bytes_per_s;
    const std::vector<int> path = wired_.path(blueprint_, from, to);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 1; k < path.size(); ++k)
      if (const auto cable = cables_.find(std::minmax(path[k - 1], path[k])); cable != cables_.end())
        least = std::min(least, cable->second);
    return least;
  }

 private:
  const cluster::Wired& wired_;
  cluster::Blueprint blueprint_;
  std::map<std::pair<int, int>, double> cables_;
};

std::string rounded(double ratio) {
  return ratio < 100.0 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.0f}", ratio);
}

std::string remedy(const Parallel& parallel, int devices) {
  if (parallel.tensor > devices) return fmt::format("take tensor = {} or less", devices);
  if (parallel.order.front() != "tensor") return "put \"tensor\" first in order";
  return fmt::format("take a tensor that divides the {} devices of a host", devices);
}

}  // namespace

std::string tensor_outside(const Parallel& parallel, const cluster::Options& cluster) {
  const cluster::Topology* const topology = cluster.topology ? &*cluster.topology : nullptr;
  const bool of_devices =
      dynamic_cast<const cluster::GpuHosts*>(topology) || dynamic_cast<const cluster::Pod*>(topology);
  if (parallel.tensor == 1 || !of_devices || !cluster.platform.empty()) return {};
  Hosts hosts(dynamic_cast<const cluster::Wired&>(*topology), cluster);
  const int devices = hosts.devices(), ranks = static_cast<int>(cluster.workers);
  if (devices == 1) return {};
  const training::Mesh mesh = parallel.mesh(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    if (mesh.place(rank)[training::Dimension::tensor] != 0) continue;
    const std::vector<int> group = mesh.group(rank, training::Dimension::tensor);
    if (hosts.has_all_in_one(group)) continue;
    double slowest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < group.size(); ++k)
      slowest = std::min(slowest, hosts.bytes_per_s(group[k], group[(k + 1) % group.size()]));
    const double inside = hosts.bytes_per_s(0, 1);
    return fmt::format(
        "{} ranks that share products (tensor) are in {} hosts: they add up activations over a link of {}, {} "
        "times "
        "as slow as the {} inside a host; {}",
        group.size(), hosts.hosts_of(group), base::format_quantity(slowest, base::Unit::bytes_per_second),
        rounded(inside / slowest), base::format_quantity(inside, base::Unit::bytes_per_second),
        remedy(parallel, devices));
  }
  return {};
}

}  // namespace simgrad::strategies

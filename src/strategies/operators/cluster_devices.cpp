#include "strategies/operators/cluster_devices.h"

#include <algorithm>
#include <limits>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/link_numbers.h"
#include "cluster/fabric/routes.h"
#include "training/learning/layer_times.h"

namespace simgrad::strategies {

std::optional<double> memory_of(const cluster::Options& options, int worker) {
  if (options.memory_bytes) return options.memory_bytes;
  const cluster::Device* const device = options.device_of(worker);
  return device && device->memory_bytes > 0.0 ? std::optional(device->memory_bytes) : std::nullopt;
}

ClusterDevices::ClusterDevices(const training::MemoryTerms& terms, std::span<const models::Layer> layers)
    : terms_(terms) {
  const cluster::Cluster& cluster = *terms.cluster;
  const std::vector<double>& relative = cluster.options().relative_speeds;
  for (int rank = 0; rank < terms.workers; ++rank) {
    const double speed = cluster.speed(rank);
    work_.emplace_back(layers, cluster.device(rank), terms.precision, speed, terms.recompute);
    const auto place = static_cast<std::size_t>(rank);
    speeds_.push_back(speed * (place < relative.size() ? relative[place] : 1.0));
  }
}

double ClusterDevices::pass_s(int device, std::size_t layer, std::int64_t rows, bool backward) const {
  const training::RankWork& work = work_[static_cast<std::size_t>(device)];
  return (backward ? work.backward(layer, rows) : work.forward(layer, rows)) / speed(device);
}

double ClusterDevices::update_s(int device, double parameters) const {
  const cluster::Cluster& cluster = *terms_.cluster;
  if (!cluster.options().charge_reductions) return 0.0;
  const cluster::Device* const known_device = cluster.device(device);
  if (!known_device) return terms_.update_flops * parameters / speed(device);
  const double bytes =
      training::update_bytes(terms_.precision, static_cast<std::size_t>(terms_.optimizer_vectors)) * parameters;
  return known_device->memory_s(bytes) * cluster.speed(device) / speed(device);
}

Devices ClusterDevices::devices(bool limits_memory) const {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const cluster::Cluster& cluster = *terms_.cluster;
  const auto P = static_cast<std::size_t>(count());
  Devices all{.memory_bytes = {},
              .latency_s = std::vector(P, std::vector(P, 0.0)),
              .bytes_per_s = std::vector(P, std::vector(P, unlimited)),
              .links = std::vector(P, std::vector(P, std::vector<int>())),
              .link_bytes_per_s = {}};
  cluster::LinkNumbers numbers(*terms_.cluster);
  for (int from = 0; from < count(); ++from) {
    const auto a = static_cast<std::size_t>(from);
    all.memory_bytes.push_back(limits_memory ? memory_of(cluster.options(), from).value_or(unlimited) : unlimited);
    for (int to = 0; to < count(); ++to) {
      if (to == from) continue;
      const auto b = static_cast<std::size_t>(to);
      double& bandwidth = all.bytes_per_s[a][b];
      bandwidth = cluster.options().flow_limit(from, to);
      for (const auto* link : cluster::route_between(cluster.host(from), cluster.host(to), &all.latency_s[a][b])) {
        bandwidth = std::min(bandwidth, cluster.bandwidth(*link));
        if (cluster::messages_share(*link)) all.links[a][b].push_back(numbers.of(*link));
      }
    }
  }
  for (int link = 0; link < numbers.count(); ++link) all.link_bytes_per_s.push_back(numbers.bandwidth(link));
  return all;
}

}  // namespace simgrad::strategies

#include "cluster/topologies/torus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace simgrad::cluster {

void Torus::describe(base::Describer& d) {
  d.numbers("shape", shape, "hosts in each dimension, as in [4, 4, 2]; default the square that is just large enough",
            base::Bounds::between(1, most_hosts));
  for (const double size : shape)
    if (size != std::floor(size))
      d.refuse("shape", fmt::format("{} hosts in a dimension; expected whole numbers", size));
}

std::vector<int> Torus::sizes(std::int64_t hosts) const {
  if (!shape.empty()) return {shape.begin(), shape.end()};
  const int side = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(hosts)) - 1e-9));
  return {side, static_cast<int>((hosts + side - 1) / side)};
}

std::string Torus::refusal(const HostSpec& machine, std::int64_t hosts) const {
  const double all = std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
  if (!shape.empty() && static_cast<double>(hosts) > all)
    return fmt::format("shape = [{}] has {} hosts, but the ranks (servers included) are {}; make it larger",
                       fmt::join(shape, ", "), all, hosts);
  if (all > most_hosts)
    return fmt::format("shape = [{}] has {} hosts; expected at most {}", fmt::join(shape, ", "), all, most_hosts);
  const std::vector<int> k = sizes(hosts);
  const double mean_links = std::accumulate(k.begin(), k.end(), 0.0) / 4.0;
  if (static_cast<double>(hosts * hosts) * mean_links > most_route_links)
    return fmt::format(
        "shape = [{}] has ways of {} links on average, which SimGrid takes too long to load for {} hosts; "
        "expected a more even shape",
        fmt::join(k, ", "), mean_links, hosts);
  return Wired::refusal(machine, hosts);
}

std::vector<Cable> Torus::cables(const Blueprint& blueprint) const {
  const std::vector<int> k = sizes(blueprint.hosts);
  const int nodes = std::accumulate(k.begin(), k.end(), 1, std::multiplies<>());
  std::vector<Cable> all;
  for (int node = 0; node < nodes; ++node)
    for (std::size_t i = 0, stride = 1; i < k.size(); stride *= static_cast<std::size_t>(k[i]), ++i) {
      const int step = static_cast<int>(stride);
      const int place = node / step % k[i];
      if (k[i] == 1 || (k[i] == 2 && place == 1)) continue;  // between two hosts there is one cable
      const int next = node + ((place + 1) % k[i] - place) * step;
      all.push_back({node, next, "torus", blueprint.host_spec.bandwidth_bytes_per_s, blueprint.host_spec.latency_s});
    }
  return all;
}

std::vector<int> Torus::path(const Blueprint& blueprint, int from, int to) const {
  const std::vector<int> k = sizes(blueprint.hosts);
  std::vector<int> nodes{from};
  int step = 1;
  for (const int size : k) {
    const int wanted = to / step % size;
    for (int place = from / step % size; place != wanted;) {
      const int upwards = (wanted - place + size) % size;
      const int next = (place + (2 * upwards <= size ? 1 : size - 1)) % size;
      nodes.push_back(nodes.back() + (next - place) * step);
      place = next;
    }
    step *= size;
  }
  return nodes;
}

}  // namespace simgrad::cluster

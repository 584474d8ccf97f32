#include "cluster/topologies/torus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace simgrad::cluster {

namespace {

double product(const std::vector<double>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies<>());
}

}  // namespace

void Torus::describe(base::Describer& d) {
  d.numbers("shape", shape, "hosts in each dimension, as in [4, 4, 2]; default: the square that is just large enough",
            base::Bounds::between(1, most_hosts));
  d.numbers("slice", slice,
            "the cluster's hosts in each dimension, if they are a box of the torus; default: the whole torus",
            base::Bounds::between(1, most_hosts));
  for (const auto& [key, sizes] : {std::pair("shape", &shape), std::pair("slice", &slice)})
    for (const double size : *sizes)
      if (size != std::floor(size)) d.refuse(key, fmt::format("{} hosts in a dimension; expected whole numbers", size));
  if (slice.empty()) return;
  if (shape.empty())
    return d.refuse("slice",
                    "slice is a box of a larger torus, but shape is not given; set shape, as in shape = [8, 8]");
  if (slice.size() != shape.size())
    return d.refuse("slice", fmt::format("slice = [{}] has {} dimensions, but shape = [{}] has {}; give as many",
                                         fmt::join(slice, ", "), slice.size(), fmt::join(shape, ", "), shape.size()));
  for (std::size_t i = 0; i < slice.size(); ++i)
    if (slice[i] > shape[i])
      d.refuse("slice", fmt::format("slice = [{}] does not fit into shape = [{}]: expected at most {} in dimension {}",
                                    fmt::join(slice, ", "), fmt::join(shape, ", "), shape[i], i));
}

std::vector<Torus::Side> Torus::sides(std::int64_t hosts) const {
  std::vector<Side> all;
  if (!shape.empty()) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const double size = i < slice.size() ? slice[i] : shape[i];
      all.push_back({static_cast<int>(size), size == shape[i]});
    }
    return all;
  }
  const int side = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(hosts)) - 1e-9));
  return {{side}, {static_cast<int>((hosts + side - 1) / side)}};
}

std::string Torus::refusal(const HostSpec& machine, std::int64_t hosts) const {
  const char* key = slice.empty() ? "shape" : "slice";
  const std::vector<double>& sizes = slice.empty() ? shape : slice;
  const double all = product(sizes);
  if (!sizes.empty() && static_cast<double>(hosts) > all) {
    const std::vector<Side> square = Torus().sides(hosts);
    return fmt::format("{} = [{}] has {} hosts, but the ranks (servers included) are {}; {}", key,
                       fmt::join(sizes, ", "), all, hosts,
                       slice.empty() ? fmt::format("expected sides whose product is at least {}, as in [{}, {}]", hosts,
                                                   square[0].size, square[1].size)
                                     : "a slice has its workers alone, so place servers on their hosts (placement = "
                                       "\"colocated\"), or leave slice out");
  }
  if (all > most_hosts)
    return fmt::format("{} = [{}] has {} hosts; expected at most {}", key, fmt::join(sizes, ", "), all, most_hosts);
  if (std::string why =
          links_refusal(all * static_cast<double>(sizes.size()),
                        fmt::format("{} dimensions of {} hosts", sizes.size(), all), "have fewer dimensions");
      !why.empty())
    return why;
  return Wired::refusal(machine, hosts);
}

std::string Torus::workers_refusal(std::int64_t workers) const {
  if (slice.empty() || product(slice) == static_cast<double>(workers)) return {};
  return fmt::format("slice = [{}] has {} hosts, but workers = {}; expected sides whose product is {}",
                     fmt::join(slice, ", "), product(slice), workers, workers);
}

std::string Torus::unfilled(int hosts, int /*workers*/) const {
  int nodes = 1;
  for (const Side& side : sides(hosts)) nodes *= side.size;
  if (nodes == hosts) return {};
  return fmt::format("the torus has {} nodes for {} hosts; nodes without a host only forward messages", nodes, hosts);
}

double Torus::longest_latency_s(const HostSpec& machine, std::int64_t hosts) const {
  int hops = 0;
  for (const Side& side : sides(hosts)) hops += side.closed ? (side.size + 1) / 2 : side.size;
  return hops * machine.latency_s;
}

std::vector<Cable> Torus::cables(const Blueprint& blueprint) const {
  const std::vector<Side> k = sides(blueprint.hosts);
  int nodes = 1;
  for (const Side& side : k) nodes *= side.size;
  std::vector<Cable> all;
  for (int node = 0; node < nodes; ++node) {
    int step = 1;
    for (const auto& [size, closed] : k) {
      const int place = node / step % size;
      const bool last = place == size - 1;
      // Between two hosts there is one cable.
      if (size > 1 && !(last && (size == 2 || !closed)))
        all.push_back({node, node + ((place + 1) % size - place) * step, "torus",
                       blueprint.host_spec.bandwidth_bytes_per_s, blueprint.host_spec.latency_s});
      step *= size;
    }
  }
  return all;
}

std::vector<int> Torus::path(const Blueprint& blueprint, int from, int to) const {
  std::vector<int> nodes{from};
  int step = 1;
  for (const auto& [size, closed] : sides(blueprint.hosts)) {
    const int wanted = to / step % size;
    for (int place = from / step % size; place != wanted;) {
      const int upwards = (wanted - place + size) % size;
      const bool up = closed ? 2 * upwards <= size : wanted > place;
      const int next = (place + (up ? 1 : size - 1)) % size;
      nodes.push_back(nodes.back() + (next - place) * step);
      place = next;
    }
    step *= size;
  }
  return nodes;
}

}  // namespace simgrad::cluster

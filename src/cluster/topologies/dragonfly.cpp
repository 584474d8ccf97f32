#include "cluster/topologies/dragonfly.h"

#include <fmt/format.h>

namespace simgrad::cluster {

using base::Bounds;
using base::Unit;

void Dragonfly::describe(base::Describer& d) {
  d.integer("groups", groups, "number of groups; every two are joined by one link", Bounds::between(1, 1024));
  d.integer("routers", routers, "routers of each group, all joined to all", Bounds::between(1, 1024));
  d.integer("hosts_per_router", hosts_per_router, "hosts of each router; workers take them in order, then servers",
            Bounds::between(1, most_hosts));
  constexpr Bounds bandwidths{.least = 0.0, .most = 1e15, .positive = true};
  d.quantity("local_bandwidth", local_bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth of a link within a group, each direction; default: cluster.bandwidth", bandwidths);
  d.quantity("global_bandwidth", global_bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth of a link between groups, each direction; default: cluster.bandwidth", bandwidths);
  d.quantity("local_latency", local_latency_s, Unit::seconds,
             "latency of a link within a group, one way; default: half of cluster.latency", Bounds::between(0, 1e6));
  d.quantity("global_latency", global_latency_s, Unit::seconds,
             "latency of a link between groups, one way; default: half of cluster.latency", Bounds::between(0, 1e6));
}

std::string Dragonfly::refusal(const HostSpec& machine, std::int64_t hosts) const {
  const std::int64_t all = groups * routers * hosts_per_router;
  if (hosts > all)
    return fmt::format(
        "{} groups x {} routers x {} hosts are {}, but the ranks (servers included) are {}; make one of them "
        "larger",
        groups, routers, hosts_per_router, all, hosts);
  const auto pairs = [](std::int64_t of) { return static_cast<double>(of) * static_cast<double>(of - 1) / 2.0; };
  if (std::string why = links_refusal(static_cast<double>(groups) * pairs(routers) + pairs(groups),
                                      fmt::format("{} groups x {} routers", groups, routers),
                                      "have fewer of them, with more hosts_per_router");
      !why.empty())
    return why;
  return Wired::refusal(machine, hosts);
}

int Dragonfly::locality(int host, int /*workers*/) const { return host / static_cast<int>(hosts_per_router); }

int Dragonfly::gateway(const Blueprint& blueprint, int group, int other) const {
  const auto g = static_cast<int>(groups);
  const auto a = static_cast<int>(routers);
  return blueprint.hosts + group * a + ((other - group - 1 + g) % g) % a;
}

std::vector<Cable> Dragonfly::cables(const Blueprint& blueprint) const {
  const HostSpec& nic = blueprint.host_spec;
  const auto g = static_cast<int>(groups);
  const auto a = static_cast<int>(routers);
  const double latency_s = nic.latency_s / 2.0;
  std::vector<Cable> all;
  for (int host = 0; host < blueprint.hosts; ++host)
    all.push_back({host, blueprint.hosts + locality(host, 0), "nic", nic.bandwidth_bytes_per_s, latency_s});
  for (int group = 0; group < g; ++group)
    for (int i = 0; i < a; ++i)
      for (int j = i + 1; j < a; ++j)
        all.push_back({blueprint.hosts + group * a + i, blueprint.hosts + group * a + j, "local",
                       local_bandwidth_bytes_per_s.value_or(nic.bandwidth_bytes_per_s),
                       local_latency_s.value_or(latency_s)});
  for (int group = 0; group < g; ++group)
    for (int other = group + 1; other < g; ++other)
      all.push_back({gateway(blueprint, group, other), gateway(blueprint, other, group), "global",
                     global_bandwidth_bytes_per_s.value_or(nic.bandwidth_bytes_per_s),
                     global_latency_s.value_or(latency_s)});
  return all;
}

std::vector<int> Dragonfly::path(const Blueprint& blueprint, int from, int to) const {
  const auto a = static_cast<int>(routers);
  std::vector<int> nodes{from, blueprint.hosts + locality(from, 0)};
  const auto go = [&](int node) {
    if (nodes.back() != node) nodes.push_back(node);
  };
  const int group = locality(from, 0) / a;
  const int other = locality(to, 0) / a;
  if (group != other) {
    go(gateway(blueprint, group, other));
    go(gateway(blueprint, other, group));
  }
  go(blueprint.hosts + locality(to, 0));
  go(to);
  return nodes;
}

}  // namespace simgrad::cluster

#include "cluster/topologies/fat_tree.h"

#include <fmt/format.h>

namespace simgrad::cluster {

namespace {

constexpr int most_ports = 82;  // 137,842 hosts; 80 ports make 128,000

/// Numbers the switches of a tree with k ports, behind its hosts.
struct Switches {
  int hosts;  ///< number of hosts present
  int half;   ///< k / 2

  int pods() const { return 2 * half; }
  int edge_of(int host) const { return host / half; }
  int pod_of(int host) const { return host / (half * half); }
  int edge(int number) const { return hosts + number; }
  int aggregation(int pod, int number) const { return hosts + pods() * half + pod * half + number; }
  int core(int number) const { return hosts + 2 * pods() * half + number; }
};

}  // namespace

void FatTree::describe(base::Describer& d) {
  d.integer("k", k, "ports of every switch, an even number; k^3 / 4 hosts; default: the smallest that holds the hosts",
            base::Bounds::between(2, most_ports));
  d.quantity("link_bandwidth", bandwidth_bytes_per_s, base::Unit::bytes_per_second,
             "bandwidth of each link between switches, each direction; default: cluster.bandwidth",
             base::Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.quantity("link_latency", link_latency_s, base::Unit::seconds,
             "latency of a link between switches, one way; default: half of cluster.latency",
             base::Bounds::between(0, 1e6));
  d.choice("routing", routing, routings, "how the aggregation and core switches of a message's route are chosen");
  if (k && *k % 2 != 0) d.refuse("k", fmt::format("switches of {} ports; expected an even number", *k));
}

int FatTree::ports(std::int64_t hosts) const {
  if (k) return static_cast<int>(*k);
  int least = 2;
  while (least * least * least / 4 < hosts) least += 2;
  return least;
}

std::string FatTree::refusal(const HostSpec& machine, std::int64_t hosts) const {
  if (k && *k * *k * *k / 4 < hosts)
    return fmt::format("k = {} makes a tree of {} hosts, but the ranks (servers included) are {}; take a larger k", *k,
                       *k * *k * *k / 4, hosts);
  return Wired::refusal(machine, hosts);
}

int FatTree::locality(int host, int /*workers*/) const { return k ? host / static_cast<int>(*k / 2) : host; }

std::vector<std::string> FatTree::hashed_links() const {
  return routing == Routing::ecmp ? std::vector<std::string>{"edge", "core"} : std::vector<std::string>{};
}

std::vector<Cable> FatTree::cables(const Blueprint& blueprint) const {
  const HostSpec& nic = blueprint.host_spec;
  const double bandwidth = bandwidth_bytes_per_s.value_or(nic.bandwidth_bytes_per_s);
  const double latency_s = link_latency_s.value_or(nic.latency_s / 2.0);
  const Switches tree{blueprint.hosts, ports(blueprint.hosts) / 2};
  std::vector<Cable> all;
  for (int host = 0; host < blueprint.hosts; ++host)
    all.push_back({host, tree.edge(tree.edge_of(host)), "nic", nic.bandwidth_bytes_per_s, nic.latency_s / 2.0});
  for (int pod = 0; pod < tree.pods(); ++pod)
    for (int i = 0; i < tree.half; ++i)
      for (int j = 0; j < tree.half; ++j)
        all.push_back({tree.edge(pod * tree.half + i), tree.aggregation(pod, j), "edge", bandwidth, latency_s});
  for (int pod = 0; pod < tree.pods(); ++pod)
    for (int j = 0; j < tree.half; ++j)
      for (int i = 0; i < tree.half; ++i)
        all.push_back({tree.aggregation(pod, j), tree.core(j * tree.half + i), "core", bandwidth, latency_s});
  return all;
}

std::vector<int> FatTree::path(const Blueprint& blueprint, int from, int to) const {
  const Switches tree{blueprint.hosts, ports(blueprint.hosts) / 2};
  const int up = tree.edge(tree.edge_of(from));
  const int down = tree.edge(tree.edge_of(to));
  if (up == down) return {from, up, to};
  const int way = way_of(routing, from, to, to, tree.half * tree.half);
  const int j = way % tree.half;
  const int own = tree.aggregation(tree.pod_of(from), j);
  const int target_switch = tree.aggregation(tree.pod_of(to), j);
  if (own == target_switch) return {from, up, own, down, to};
  return {from, up, own, tree.core(j * tree.half + way / tree.half), target_switch, down, to};
}

}  // namespace simgrad::cluster

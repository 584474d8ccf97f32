#include "cluster/topologies/pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simgrad::cluster {

using base::Bounds;
using base::Unit;

namespace {

/// Numbers the nodes behind the ranks: the switches of the hosts, the NICs of each, the leaf and the spine switches.
class PodNodes {
 public:
  PodNodes(const Pod& pod, const Blueprint& blueprint)
      : pod_(pod),
        devices_(static_cast<int>(pod.devices)),
        nics_(static_cast<int>(pod.nics)),
        ranks_(blueprint.hosts),
        workers_(std::min(blueprint.workers, blueprint.hosts)),
        gpu_hosts_((workers_ + devices_ - 1) / devices_) {}

  int ranks() const { return ranks_; }
  int workers() const { return workers_; }
  int gpu_hosts() const { return gpu_hosts_; }
  int leaves() const {
    const auto hosts = gpu_hosts_ + ranks_ - workers_;
    const auto per_group = static_cast<int>(pod_.hosts_per_group);
    return (hosts + per_group - 1) / per_group * (pod_.rails ? nics_ : 1);
  }

  int host(int rank) const { return rank < workers_ ? pod_.locality(rank, workers_) : gpu_hosts_ + rank - workers_; }
  /// The number of a rank's NIC in its host; a server's on the rail that it is dealt.
  int rail(int rank) const { return rank < workers_ ? pod_.nic(rank, workers_) : (rank - workers_) % nics_; }
  int inside(int rank) const { return ranks_ + host(rank); }
  int nic(int rank) const {
    return rank < workers_ ? nic_of(host(rank), rail(rank)) : rank;  // a server and its NIC are one node
  }
  int nic_of(int gpu_host, int rail) const { return ranks_ + gpu_hosts_ + gpu_host * nics_ + rail; }
  int leaf_of(int host, int rail) const {
    const int group = host / static_cast<int>(pod_.hosts_per_group);
    return first_leaf() + (pod_.rails ? group * nics_ + rail : group);
  }
  int leaf(int rank) const { return leaf_of(host(rank), rail(rank)); }
  int first_leaf() const { return ranks_ + gpu_hosts_ + gpu_hosts_ * nics_; }
  int spine(int number) const { return first_leaf() + leaves() + number; }
  /// The receiver's place among those that hang on leaf switches of one rail, or of any where there are no rails.
  int destined(int rank) const { return pod_.rails ? host(rank) : host(rank) * nics_ + rail(rank); }

  /// The device whose NIC sends a message: with pxn that of the sender's host on the receiver's rail.
  int sender(int from, int to) const {
    if (!pod_.pxn || from >= workers_ || rail(from) == rail(to)) return from;
    const int through = host(from) * devices_ + (to < workers_ ? to % devices_ : rail(to));
    return through < workers_ ? through : from;
  }

 private:
  const Pod& pod_;
  int devices_, nics_, ranks_, workers_, gpu_hosts_;
};

}  // namespace

void Pod::describe(base::Describer& d) {
  constexpr std::int64_t most_devices = 1'024;
  d.integer("devices", devices,
            "the number of GPUs of each host, which take the workers in order, each at cluster.speed",
            Bounds::between(1, most_devices));
  nics = std::min(nics, devices);  // unless it is given
  d.integer("nics", nics,
            "NICs of each host, at most one a device; device i takes NIC i mod nics; default: the number for "
            "cluster.device in the catalogue, else at most 8",
            Bounds::between(1, most_devices));
  d.integer("hosts_per_group", hosts_per_group,
            "hosts on the same leaf switches: of a scalable unit with rails, of a rack without",
            Bounds::between(1, most_hosts));
  d.flag("rails", rails, "whether NIC j of every host of a group has a leaf switch of its own; else all share one");
  d.number("oversubscription", oversubscription,
           "bandwidth of a leaf switch's links downwards / bandwidth of those upwards", Bounds::between(1, 1e6));
  d.integer("spines", spines,
            "spine switches, each joined to every leaf switch; default: NICs of a leaf / oversubscription",
            Bounds::between(1, most_hosts));
  d.quantity("link_latency", link_latency_s, Unit::seconds,
             "latency between leaf and spine, one way; default: half of cluster.latency", Bounds::between(0, 1e6));
  describe_nvlink(d);
  d.choice("routing", routing, routings, "how the spine switch of a message's route is chosen");
  d.flag("pxn", pxn, "whether a message to another rail goes by NVLink to a device on that rail first");
  refuse_idle_nics(d);
  if (pxn && !rails)
    d.refuse("pxn", "pxn = true takes the receiver's rail, but rails = false; leave it out, or set rails = true");
}

std::int64_t Pod::spine_switches() const {
  return spines.value_or(static_cast<std::int64_t>(std::ceil(static_cast<double>(downlinks()) / oversubscription)));
}

std::string Pod::refusal(const HostSpec& machine, std::int64_t hosts) const {
  if (std::string why = Wired::refusal(machine, hosts); !why.empty()) return why;
  const auto ranks = static_cast<int>(hosts);
  const PodNodes nodes(*this, {.host_spec = machine, .hosts = ranks, .workers = ranks});
  return links_refusal(
      static_cast<double>(nodes.leaves()) * static_cast<double>(spine_switches()),
      fmt::format("{} leaf switches, each joined to {} spine switches,", nodes.leaves(), spine_switches()),
      "set fewer spines, or more hosts_per_group");
}

std::string Pod::workers_refusal(std::int64_t workers) const {
  if (workers <= devices || workers % devices == 0) return {};
  return fmt::format("{} workers do not fill hosts of {} devices; expected {} or {}", workers, devices,
                     workers / devices * devices, (workers / devices + 1) * devices);
}

std::string Pod::unfilled(int hosts, int workers) const {
  const PodNodes nodes(*this, {.host_spec = {}, .hosts = hosts, .workers = workers});
  if (nodes.workers() < devices)
    return fmt::format("the GPU host has {} devices for {} workers; the others are idle", devices, nodes.workers());
  const std::int64_t all = nodes.gpu_hosts() + nodes.ranks() - nodes.workers(), last = all % hosts_per_group;
  if (all < hosts_per_group || last == 0) return {};
  return fmt::format("the last group has {} of {} hosts, and the spine links of a full group", last, hosts_per_group);
}

std::vector<std::string> Pod::hashed_links() const {
  return routing == Routing::ecmp ? std::vector<std::string>{"spine"} : std::vector<std::string>{};
}

std::vector<Cable> Pod::cables(const Blueprint& blueprint) const {
  const HostSpec& nic = blueprint.host_spec;
  const PodNodes nodes(*this, blueprint);
  std::vector<Cable> all;
  for (int device = 0; device < nodes.workers(); ++device)
    all.push_back({device, nodes.inside(device), "nvlink", nvlink_bandwidth_bytes_per_s, nvlink_latency_s / 2.0});
  const auto add_nic = [&](int node, int leaf) {
    all.push_back({node, leaf, "nic", nic.bandwidth_bytes_per_s, nic.latency_s / 2.0});
  };
  for (int host = 0; host < nodes.gpu_hosts(); ++host)
    for (int rail = 0; rail < nics; ++rail) add_nic(nodes.nic_of(host, rail), nodes.leaf_of(host, rail));
  for (int server = nodes.workers(); server < nodes.ranks(); ++server) add_nic(server, nodes.leaf(server));
  if (nodes.leaves() == 1) return all;
  const auto spine_count = static_cast<int>(spine_switches());
  const double upwards = static_cast<double>(downlinks()) * nic.bandwidth_bytes_per_s / oversubscription;
  for (int leaf = 0; leaf < nodes.leaves(); ++leaf)
    for (int spine = 0; spine < spine_count; ++spine)
      all.push_back({nodes.first_leaf() + leaf, nodes.spine(spine), "spine", upwards / spine_count,
                     link_latency_s.value_or(nic.latency_s / 2.0)});
  return all;
}

std::vector<int> Pod::path(const Blueprint& blueprint, int from, int to) const {
  const PodNodes nodes(*this, blueprint);
  if (nodes.host(from) == nodes.host(to)) return {from, nodes.inside(from), to};
  std::vector<int> way{from};
  const int sender = nodes.sender(from, to);
  if (sender != from) way.insert(way.end(), {nodes.inside(from), sender});
  way.insert(way.end(), {nodes.nic(sender), nodes.leaf(sender)});
  if (way.back() != nodes.leaf(to)) {
    const int spine = way_of(routing, from, to, nodes.destined(to), static_cast<int>(spine_switches()));
    way.insert(way.end(), {nodes.spine(spine), nodes.leaf(to)});
  }
  way.insert(way.end(), {nodes.nic(to), to});
  return way;
}

}  // namespace simgrad::cluster

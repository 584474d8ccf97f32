// Drawn traffic on a cluster, and the same on a platform that is written with SimGrid's S4U alone.

#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/star.h"
#include "cluster/topologies/two_tier.h"
#include "share.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace traffic_test {

using namespace simgrad;
namespace s4u = simgrid::s4u;

namespace {

struct Wire {
  std::string name;
  double bandwidth;
};

/// Hosts of devices behind NICs, perhaps in racks. Rank r is device r mod devices of host r / devices.
struct Layout {
  int hosts = 1, devices = 1, nics = 1, hosts_per_rack = 0;
  double between_bytes_per_s = 1e9, between_s = 20e-6;  // of a NIC; from host to host
  double inside_bytes_per_s = 6e9, inside_s = 3e-6;     // of a device; inside a host
  double oversubscription = 4.0, rack_s = 7e-6;         // of a rack's uplink

  int ranks() const { return hosts * devices; }
  bool inside(int from, int to) const { return from / devices == to / devices; }
  bool leaves_rack(int from, int to) const {
    return hosts_per_rack > 0 && from / (devices * hosts_per_rack) != to / (devices * hosts_per_rack);
  }
  double latency_s(int from, int to) const {
    return inside(from, to) ? inside_s : between_s + (leaves_rack(from, to) ? 2.0 * rack_s : 0.0);
  }

  /// With one NIC, a device has a link to the others and to the NIC ("star"). With several, the devices' links are
  /// those of a switch beside the NICs ("gpu_hosts"). Racks have an uplink ("two_tier").
  std::vector<Wire> way(int from, int to) const {
    std::vector<Wire> way;
    const auto add = [&](const std::string& one, const std::string& other, double bytes_per_s) {
      way.push_back({one + " up", bytes_per_s});
      way.push_back({other + " down", bytes_per_s});
    };
    if (inside(from, to) || (nics == 1 && devices > 1)) add(device(from), device(to), inside_bytes_per_s);
    if (!inside(from, to)) add(nic(from), nic(to), between_bytes_per_s);
    if (leaves_rack(from, to)) add(rack(from), rack(to), hosts_per_rack * between_bytes_per_s / oversubscription);
    return way;
  }

 private:
  std::string device(int rank) const { return "device " + std::to_string(rank); }
  std::string nic(int rank) const {
    return "nic " + std::to_string(rank / devices) + " " + std::to_string(rank % devices % nics);
  }
  std::string rack(int rank) const { return "rack " + std::to_string(rank / devices / hosts_per_rack); }
};

struct Flow {
  int from, to;
  std::int64_t numbers;
  double start_s;
};

/// No two have the same ends. Sizes are 8 kB to 16 MB; half of the flows begin at a full ms, many of them together.
std::vector<Flow> drawn(const Layout& layout, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::set<std::pair<int, int>> used;
  std::vector<Flow> flows;
  while (flows.size() < 60) {
    const int from = below(layout.ranks()), to = below(3) == 0 ? below(2) : below(layout.ranks());
    if (from == to || !used.insert({from, to}).second) continue;
    const double share = below(1000) / 1000.0;
    const double start_ms = below(2) == 0 ? below(20) : 20.0 * below(100'000) / 100'000.0;
    flows.push_back({from, to, std::llround(1e3 * std::pow(2000.0, share)), 1e-3 * start_ms});
  }
  return flows;
}

// SimGrid 4 has other names for some of these functions, and keeps the old ones.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/// The outermost zone that is ours: SimGrid 4 has a root of its own around it.
template <class Engine>
s4u::NetZone* full_zone(Engine& engine) {
  if constexpr (requires { engine.get_netzone_root()->add_netzone_full("world"); })
    return engine.get_netzone_root()->add_netzone_full("world");
  else
    return s4u::create_full_zone("world");
}

/// SimGrid's own times. Each flow's latency is slept through before, since SimGrid's shares depend on latencies.
std::vector<double> s4u_ends(const Layout& layout, const std::vector<Flow>& flows) {
  return tests::numbers_of_child([&] {
    std::vector<std::string> words = {"traffic",
                                      "--log=root.thres:warning",
                                      "--cfg=network/model:CM02",
                                      "--cfg=network/TCP-gamma:0",
                                      "--cfg=network/crosstraffic:0",
                                      "--cfg=network/optim:Full",
                                      "--cfg=surf/precision:1e-12",
                                      "--cfg=maxmin/precision:1e-9"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    s4u::Engine engine(&argc, argv.data());
    s4u::NetZone* const zone = full_zone(engine);
    std::vector<s4u::Host*> hosts;
    for (int r = 0; r < layout.ranks(); ++r) hosts.push_back(zone->create_host("rank " + std::to_string(r), 1e9));
    std::map<std::string, s4u::Link*> links;
    std::vector<double> ends(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const Flow& flow = flows[i];
      std::vector<s4u::LinkInRoute> route;
      for (const auto& [wire, bandwidth] : layout.way(flow.from, flow.to)) {
        s4u::Link*& link = links[wire];
        if (!link) link = zone->create_link(wire, bandwidth)->set_latency(0.0)->seal();
        route.emplace_back(link);
      }
      s4u::Host* const from = hosts[static_cast<std::size_t>(flow.from)];
      s4u::Host* const to = hosts[static_cast<std::size_t>(flow.to)];
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
      const double begin_s = flow.start_s + layout.latency_s(flow.from, flow.to);
      s4u::Actor::create("flow", from, [&ends, i, from, to, begin_s, bytes = 8 * flow.numbers] {
        s4u::this_actor::sleep_until(begin_s);
        s4u::Comm::sendto(from, to, static_cast<std::uint64_t>(bytes));
        ends[i] = s4u::Engine::get_clock();
      });
    }
    zone->seal();
    engine.run();
    return ends;
  });
}
#pragma GCC diagnostic pop

cluster::Options options_of(const Layout& layout) {
  cluster::Options options;
  options.workers = layout.ranks();
  options.host_spec = {
      .speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = layout.between_bytes_per_s, .latency_s = layout.between_s};
  if (layout.hosts_per_rack > 0) {
    auto kind = std::make_unique<cluster::TwoTier>();
    kind->hosts_per_rack = layout.hosts_per_rack;
    kind->oversubscription = layout.oversubscription;
    kind->rack_latency_s = layout.rack_s;
    options.topology = {cluster::topologies(), std::move(kind)};
  } else if (layout.nics > 1) {
    auto kind = std::make_unique<cluster::GpuHosts>();
    kind->devices = layout.devices;
    kind->nics = layout.nics;
    kind->nvlink_bandwidth_bytes_per_s = layout.inside_bytes_per_s;
    kind->nvlink_latency_s = layout.inside_s;
    options.topology = {cluster::topologies(), std::move(kind)};
  } else {
    auto kind = std::make_unique<cluster::Star>();
    kind->devices_per_host = layout.devices;
    if (layout.devices > 1) kind->device_bandwidth_bytes_per_s = layout.inside_bytes_per_s;
    if (layout.devices > 1) kind->device_latency_s = layout.inside_s;
    options.topology = {cluster::topologies(), std::move(kind)};
  }
  return options;
}

/// The cluster's times, with every flow a message between two ranks.
std::vector<double> our_ends(const Layout& layout, const std::vector<Flow>& flows, bool own_network) {
  return tests::numbers_of_child([&] {
    cluster::Options options = options_of(layout);
    // With a crash that is announced and never happens, SimGrid shares the links, and not the cluster itself.
    if (!own_network) options.failures.crashes.emplace_back();
    cluster::Cluster cluster(options, layout.ranks(), true);
    cluster::World world(cluster, "traffic", layout.ranks(), 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(layout.ranks()));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    std::vector<double> ends(flows.size());
    std::size_t left = flows.size();
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const Flow& flow = flows[i];
      world.ranks().start(flow.from, [&] {
        cluster::pause(flow.start_s);
        cluster::Communicator(world, members, flow.from, 0).send(flow.to, timing.zeros(flow.numbers));
      });
      world.ranks().start(flow.to, [&, i] {
        cluster::Communicator(world, members, flow.to, 0).receive(flow.from);
        ends[i] = world.now();
        if (--left == 0) world.end();
      });
    }
    cluster.run();
    return ends;
  });
}

}  // namespace

TEST_CASE("drawn traffic ends when SimGrid says that it ends, on a star, on hosts of devices and NICs, and in racks") {
  tests::Share share(4);
  const std::vector<Layout> layouts{{.hosts = 12},
                                    {.hosts = 4, .devices = 4},
                                    {.hosts = 3, .devices = 4, .nics = 2},
                                    {.hosts = 2, .devices = 8, .nics = 4},
                                    {.hosts = 12, .hosts_per_rack = 4}};
  for (const Layout& layout : layouts)
    for (unsigned seed = 1; seed <= 4; ++seed) {
      if (!share.next()) continue;
      const std::vector<Flow> flows = drawn(layout, seed);
      const std::vector<double> simgrids = s4u_ends(layout, flows);
      for (const bool own_network : {true, false}) {
        CAPTURE(layout.hosts, layout.devices, layout.nics, layout.hosts_per_rack, seed, own_network);
        const std::vector<double> ours = our_ends(layout, flows, own_network);
        REQUIRE(ours.size() == flows.size());
        for (std::size_t i = 0; i < flows.size(); ++i) {
          CAPTURE(i, flows[i].from, flows[i].to, flows[i].numbers, flows[i].start_s);
          REQUIRE(ours[i] == Approx(simgrids[i]).epsilon(1e-7));
        }
      }
    }
}

}  // namespace traffic_test

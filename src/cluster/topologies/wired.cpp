#include "cluster/topologies/wired.h"

#include <fmt/format.h>

#include <map>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/fabric/simgrid_versions.h"
#include "cluster/topologies/loopback.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using Direction = sg4::LinkInRoute::Direction;

namespace {

/// The cable between two nodes, with its direction.
using Hops = std::map<std::pair<int, int>, sg4::LinkInRoute>;

Hops lay(sg4::NetZone& zone, const std::vector<Cable>& cables) {
  Hops hops;
  std::map<std::string, int> laid;
  for (const Cable& cable : cables) {
    auto* link = zone.create_split_duplex_link(fmt::format("{}-{}", cable.kind, laid[cable.kind]++),
                                               cable.bandwidth_bytes_per_s);
    link->set_latency(cable.latency_s);
    link->seal();
    hops.try_emplace({cable.from, cable.to}, link, Direction::UP);
    hops.try_emplace({cable.to, cable.from}, link, Direction::DOWN);
  }
  return hops;
}

std::vector<sg4::LinkInRoute> links_along(const std::vector<int>& path, const Hops& hops) {
  std::vector<sg4::LinkInRoute> links;
  for (std::size_t i = 1; i < path.size(); ++i)
    if (const auto hop = hops.find({path[i - 1], path[i]}); hop != hops.end()) links.push_back(hop->second);
  return links;
}

}  // namespace

std::string Wired::refusal(const HostSpec& /*machine*/, std::int64_t hosts) const {
  if (hosts <= most_hosts) return {};
  return fmt::format(
      "{} hosts, but SimGrid loads a route for every two of them, which takes too long beyond {}; "
      "have fewer, or take topology = \"star\"",
      hosts, most_hosts);
}

std::vector<sg4::Host*> Wired::build(const Blueprint& blueprint) const {
  sg4::NetZone* zone = new_full_zone("wired");
  sg4::Link* loopback = new_loopback(*zone, "loopback");
  const Hops hops = lay(*zone, cables(blueprint));
  std::vector<sg4::Host*> hosts;
  for (int host = 0; host < blueprint.hosts; ++host)
    hosts.push_back(zone->create_host(fmt::format("host-{}", host), blueprint.speed(static_cast<std::size_t>(host))));
  for (int a = 0; a < blueprint.hosts; ++a)
    for (int b = 0; b < blueprint.hosts; ++b) {
      const auto links = a == b ? std::vector{sg4::LinkInRoute(loopback)} : links_along(path(blueprint, a, b), hops);
      zone->add_route(hosts[static_cast<std::size_t>(a)]->get_netpoint(),
                      hosts[static_cast<std::size_t>(b)]->get_netpoint(), nullptr, nullptr, links, false);
    }
  for (sg4::Host* host : hosts) host->seal();
  zone->seal();
  return hosts;
}

}  // namespace simgrad::cluster

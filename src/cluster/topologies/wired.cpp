#include "cluster/topologies/wired.h"

#include <fmt/format.h>

#include <map>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/fabric/simgrid_versions.h"
#include "cluster/topologies/hops.h"
#include "cluster/topologies/loopback.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using Direction = sg4::LinkInRoute::Direction;

namespace {

/// The two directions of every cable, at the places that Hops gives them.
std::vector<sg4::LinkInRoute> lay(sg4::NetZone& zone, const std::vector<Cable>& cables) {
  std::vector<sg4::LinkInRoute> links;
  links.reserve(2 * cables.size() + 1);
  std::map<std::string, int> laid;
  for (const Cable& cable : cables) {
    auto* link =
        add_duplex_link(zone, fmt::format("{}-{}", cable.kind, laid[cable.kind]++), cable.bandwidth_bytes_per_s);
    link->set_latency(cable.latency_s);
    link->seal();
    links.emplace_back(link, Direction::UP);
    links.emplace_back(link, Direction::DOWN);
  }
  return links;
}

}  // namespace

std::string Wired::refusal(const HostSpec& /*machine*/, std::int64_t hosts) const {
  if (hosts <= most_hosts) return {};
  return fmt::format("{} hosts are too many; expected at most {}", hosts, most_hosts);
}

std::string Wired::links_refusal(double links, const std::string& given, const std::string& remedy) {
  if (links <= most_links) return {};
  return fmt::format("{} make {} links; expected at most {}: {}", given, links, most_links, remedy);
}

std::vector<sg4::Host*> Wired::build(const Blueprint& blueprint) const {
  sg4::NetZone* zone = new_computed_zone("wired");
  sg4::Link* loopback = new_loopback(*zone, "loopback");
  const std::vector<Cable> laid = cables(blueprint);
  std::vector<sg4::LinkInRoute> links = lay(*zone, laid);
  const auto own = static_cast<int>(links.size());
  links.emplace_back(loopback);
  Blueprint known = blueprint;
  known.speeds_flops_per_s.clear();
  const auto inside = [this, workers = blueprint.workers](int from, int to) { return inside_host(from, to, workers); };
  const auto route = [this, known, own, hops = Hops(laid)](int from, int to, std::vector<int>& way) {
    if (from == to) return way.push_back(own);
    const std::vector<int> nodes = path(known, from, to);
    for (std::size_t i = 1; i < nodes.size(); ++i)
      if (const int hop = hops.between(nodes[i - 1], nodes[i]); hop >= 0) way.push_back(hop);
  };
  compute_routes(*zone, links, route, inside);
  std::vector<sg4::Host*> hosts;
  for (int host = 0; host < blueprint.hosts; ++host)
    hosts.push_back(add_host(*zone, fmt::format("host-{}", host), blueprint.speed(static_cast<std::size_t>(host))));
  for (sg4::Host* host : hosts) host->seal();
  zone->seal();
  return hosts;
}

}  // namespace simgrad::cluster

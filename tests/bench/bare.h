// Bare SimGrid engines with an ideal star or fat tree, for programs that know nothing of simgrad.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "cluster/fabric/network_model.h"

namespace simgrad::bench {

/// Starts SimGrid as simgrad does; SimGrid keeps the engine.
inline void bare_engine() {
  std::vector<std::string> words{"bare", "--cfg=contexts/stack-size:512", "--log=root.thresh:critical"};
  for (const std::string& flag : cluster::simgrid_flags(cluster::NetworkModel::ideal)) words.push_back(flag);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  simgrid::s4u::Engine::get_instance(&count, arguments.data());
}

/// The hosts of a star of 1 Gb/s and 50 us.
inline std::vector<simgrid::s4u::Host*> bare_star(int P) {
  namespace sg4 = simgrid::s4u;
  bare_engine();
  auto* zone = sg4::create_star_zone("star");
  std::vector<sg4::Host*> hosts;
  for (int r = 0; r < P; ++r) {
    auto* host = zone->create_host(fmt::format("host-{}", r), 1e10);
    auto* nic = zone->create_split_duplex_link(fmt::format("nic-{}", r), 125e6);
    nic->set_latency(25e-6);
    nic->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{nic, sg4::LinkInRoute::Direction::UP}}, true);
    host->seal();
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

/// P hosts of SimGrid's own fat tree of k-port switches, as few ports as hold the hosts, with cables of 1 Gb/s and 25
/// us.
inline std::vector<simgrid::s4u::Host*> bare_fat_tree(int P) {
  namespace sg4 = simgrid::s4u;
  bare_engine();
  unsigned half = 1;  // of a switch's ports
  while (2 * half * half * half < static_cast<unsigned>(P)) ++half;
  const sg4::FatTreeParams shape(3, {half, half, 2 * half}, {1, half, half}, {1, 1, 1});
  const sg4::ClusterCallbacks hosts_alone([](sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    sg4::Host* const host = zone->create_host(fmt::format("host-{}", id), 1e10);
    host->seal();
    return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(host->get_netpoint(),
                                                                                               nullptr);
  });
  auto* const zone = sg4::create_fatTree_zone("tree", nullptr, shape, hosts_alone, 125e6, 25e-6,
                                              sg4::Link::SharingPolicy::SPLITDUPLEX);
  zone->seal();
  std::vector<sg4::Host*> hosts;
  for (int r = 0; r < P; ++r) hosts.push_back(sg4::Host::by_name(fmt::format("host-{}", r)));
  return hosts;
}

}  // namespace simgrad::bench

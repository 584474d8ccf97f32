// A bare SimGrid engine with an ideal star, for programs that know nothing of simgrad.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "cluster/fabric/network_model.h"
#include "cluster/fabric/simgrid_versions.h"

namespace simgrad::bench {

/// The hosts of a star of 1 Gb/s and 50 us; SimGrid keeps the engine.
inline std::vector<simgrid::s4u::Host*> bare_star(int P) {
  namespace sg4 = simgrid::s4u;
  std::vector<std::string> words{"bare", "--cfg=contexts/stack-size:512", "--log=root.thresh:critical"};
  for (const std::string& flag : cluster::simgrid_flags(cluster::NetworkModel::ideal)) words.push_back(flag);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  sg4::Engine::get_instance(&count, arguments.data());
  auto* zone = cluster::new_star_zone("star");
  std::vector<sg4::Host*> hosts;
  for (int r = 0; r < P; ++r) {
    auto* host = cluster::add_host(*zone, fmt::format("host-{}", r), 1e10);
    auto* nic = cluster::add_duplex_link(*zone, fmt::format("nic-{}", r), 125e6);
    nic->set_latency(25e-6);
    nic->seal();
    cluster::add_route(*zone, {host->get_netpoint()}, {}, {{nic, sg4::LinkInRoute::Direction::UP}});
    host->seal();
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

}  // namespace simgrad::bench

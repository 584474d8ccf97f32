// A bare SimGrid engine with an ideal star, for programs that know nothing of simgrad.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "cluster/fabric/network_model.h"

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

}  // namespace simgrad::bench

// Bare SimGrid engines with an ideal star or fat tree, for programs that know nothing of simgrad.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "cluster/fabric/network_model.h"
#include "cluster/fabric/simgrid_versions.h"

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

/// P hosts of SimGrid's own fat tree of k-port switches, as few ports as hold the hosts, with cables of 1 Gb/s and 25
/// us.
inline std::vector<simgrid::s4u::Host*> bare_fat_tree(int P) {
  namespace sg4 = simgrid::s4u;
  bare_engine();
  unsigned half = 1;  // of a switch's ports
  while (2 * half * half * half < static_cast<unsigned>(P)) ++half;
  const std::string file = scratch() + "/fat_tree.xml";
  std::ofstream(file) << fmt::format(
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
      "version=\"4.1\">"
      "<cluster id=\"tree\" prefix=\"host-\" suffix=\"\" radical=\"0-{last}\" speed=\"10Gf\" bw=\"125MBps\" "
      "lat=\"25us\" "
      "sharing_policy=\"SPLITDUPLEX\" topology=\"FAT_TREE\" topo_parameters=\"3;{h},{h},{all};1,{h},{h};1,1,1\"/>"
      "</platform>\n",
      fmt::arg("last", 2 * half * half * half - 1), fmt::arg("h", half), fmt::arg("all", 2 * half));
  cluster::load_platform(file);
  std::vector<sg4::Host*> hosts;
  for (int r = 0; r < P; ++r) hosts.push_back(sg4::Host::by_name(fmt::format("host-{}", r)));
  return hosts;
}

}  // namespace simgrad::bench

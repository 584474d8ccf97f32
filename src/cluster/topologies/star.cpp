#include "cluster/topologies/star.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>

#include "cluster/simgrid_versions.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

std::vector<sg4::Host*> Star::build(const Machine& machine, int hosts) const {
  sg4::NetZone* zone = new_star_zone("star");
  std::vector<sg4::Host*> built;
  built.reserve(static_cast<std::size_t>(hosts));
  for (int i = 0; i < hosts; ++i) {
    sg4::Host* host = zone->create_host(fmt::format("host-{}", i), machine.speed_flops_per_s);
    auto* nic = zone->create_split_duplex_link(fmt::format("nic-{}", i), machine.bandwidth_bytes_per_s);
    nic->set_latency(machine.latency_s / 2.0);  // a route crosses two NICs
    nic->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{nic, sg4::LinkInRoute::Direction::UP}}, true);
    host->seal();
    built.push_back(host);
  }
  zone->seal();
  return built;
}

}  // namespace simgrad::cluster

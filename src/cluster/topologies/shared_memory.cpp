#include "cluster/topologies/shared_memory.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>

#include "cluster/fabric/simgrid_versions.h"
#include "cluster/topologies/loopback.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

std::vector<sg4::Host*> SharedMemory::build(const Blueprint& blueprint) const {
  sg4::NetZone* zone = new_star_zone("host");
  sg4::Link* loopback = new_loopback(*zone, "loopback");
  sg4::Link* memory = add_link(*zone, "memory-0", blueprint.host_spec.bandwidth_bytes_per_s);
  memory->set_latency(blueprint.host_spec.latency_s);
  memory->seal();
  std::vector<sg4::Host*> cores;
  for (int core = 0; core < blueprint.hosts; ++core) {
    sg4::Host* host = add_host(*zone, fmt::format("host-{}", core), blueprint.speed(static_cast<std::size_t>(core)));
    const RouteEnd own{host->get_netpoint()};
    add_route(*zone, own, {}, {sg4::LinkInRoute(memory)}, Ways::one);
    add_route(*zone, {}, own, {}, Ways::one);
    add_route(*zone, own, own, {sg4::LinkInRoute(loopback)});
    host->seal();
    cores.push_back(host);
  }
  zone->seal();
  return cores;
}

}  // namespace simgrad::cluster

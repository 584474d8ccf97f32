#include "cluster/topologies/loopback.h"

#include <simgrid/s4u.hpp>

#include "cluster/fabric/simgrid_versions.h"

namespace simgrad::cluster {

simgrid::s4u::Link* new_loopback(simgrid::s4u::NetZone& zone, const std::string& name) {
  simgrid::s4u::Link* link = add_link(zone, name, 1e15);
  link->set_latency(0.0);
  link->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
  link->seal();
  return link;
}

}  // namespace simgrad::cluster

/// The loopback link: messages between ranks of one host. Included by .cpp files only.
#pragma once

#include <simgrid/s4u.hpp>
#include <string>

#include "cluster/fabric/simgrid_versions.h"

namespace simgrad::cluster {

/// Crosses no NIC and takes no time. SimGrid ends the process where a host without one sends to itself.
inline simgrid::s4u::Link* new_loopback(simgrid::s4u::NetZone& zone, const std::string& name) {
  simgrid::s4u::Link* link = add_link(zone, name, 1e15);
  link->set_latency(0.0);
  link->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
  link->seal();
  return link;
}

}  // namespace simgrad::cluster

/// The loopback link: messages between ranks of one host.
#pragma once

#include <string>

namespace simgrid::s4u {
class Link;
class NetZone;
}  // namespace simgrid::s4u

namespace simgrad::cluster {

/// Crosses no NIC and takes no time. SimGrid ends the process where a host without one sends to itself.
simgrid::s4u::Link* new_loopback(simgrid::s4u::NetZone& zone, const std::string& name);

}  // namespace simgrad::cluster

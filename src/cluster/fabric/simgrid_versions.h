/// Functions that SimGrid's releases spell differently. Included by the cluster's .cpp files only.
#pragma once

#include <simgrid/s4u.hpp>
// version.h does not stand by itself: it must come after s4u.hpp.
#include <simgrid/version.h>

#include <functional>
#include <string>
#include <vector>

namespace simgrad::cluster {

inline simgrid::s4u::NetZone* new_star_zone(const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return simgrid::s4u::Engine::get_instance()->get_netzone_root()->add_netzone_star(name);
#else
  return simgrid::s4u::create_star_zone(name);
#endif
}

/// Appends the places of the links on the way from a host of a zone to another. Hosts count from 0 in the order of
/// their creation.
using RouteFunction = std::function<void(int from, int to, std::vector<int>& links)>;

/// A zone that stores no route: it asks for each when a message begins. Create hosts and links, then compute_routes().
simgrid::s4u::NetZone* new_computed_zone(const std::string& name);

/// The routes of a zone made by new_computed_zone(), over these links.
void compute_routes(simgrid::s4u::NetZone& zone, const std::vector<simgrid::s4u::LinkInRoute>& links,
                    RouteFunction route);

}  // namespace simgrad::cluster

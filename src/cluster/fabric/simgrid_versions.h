/// Functions that SimGrid's releases spell differently. Included by the cluster's .cpp files only.
#pragma once

#include <simgrid/s4u.hpp>
// version.h does not stand by itself: it must come after s4u.hpp.
#include <simgrid/version.h>

#include <string>

namespace simgrad::cluster {

inline simgrid::s4u::NetZone* new_star_zone(const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return simgrid::s4u::Engine::get_instance()->get_netzone_root()->add_netzone_star(name);
#else
  return simgrid::s4u::create_star_zone(name);
#endif
}

inline simgrid::s4u::NetZone* new_full_zone(const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return simgrid::s4u::Engine::get_instance()->get_netzone_root()->add_netzone_full(name);
#else
  return simgrid::s4u::create_full_zone(name);
#endif
}

}  // namespace simgrad::cluster

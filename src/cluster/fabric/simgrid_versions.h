/// Functions and options that SimGrid's releases spell differently. Included by .cpp files only.
#pragma once

#include <simgrid/s4u.hpp>
// version.h does not stand by itself: it must come after s4u.hpp.
#include <simgrid/version.h>

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace simgrad::cluster {

#if SIMGRID_VERSION >= 33400
inline constexpr const char* timing_precision_option = "precision/timing";
inline constexpr const char* solver_precision_option = "precision/work-amount";
inline constexpr const char* latency_factor_option = "network/latency-factor";
inline constexpr const char* bandwidth_factor_option = "network/bandwidth-factor";
#else
inline constexpr const char* timing_precision_option = "surf/precision";
inline constexpr const char* solver_precision_option = "maxmin/precision";
inline constexpr const char* latency_factor_option = "smpi/lat-factor";
inline constexpr const char* bandwidth_factor_option = "smpi/bw-factor";
#endif

/// Reads the hosts, links and routes of a platform file into the present engine, once its text has been checked.
/// Errors: as check_platform_text; InvariantError for a platform that has changed SimGrid's settings all the same.
void load_platform(const std::string& file);

/// A zone within the parent, or the outermost one that is ours: SimGrid 4 has a root of its own around it.
inline simgrid::s4u::NetZone* new_star_zone(const std::string& name, simgrid::s4u::NetZone* parent = nullptr) {
#if SIMGRID_VERSION >= 40000
  return (parent ? parent : simgrid::s4u::Engine::get_instance()->get_netzone_root())->add_netzone_star(name);
#else
  simgrid::s4u::NetZone* zone = simgrid::s4u::create_star_zone(name);
  return parent ? zone->set_parent(parent) : zone;
#endif
}

inline simgrid::s4u::Host* add_host(simgrid::s4u::NetZone& zone, const std::string& name, double speed_flops_per_s) {
#if SIMGRID_VERSION >= 40000
  return zone.add_host(name, speed_flops_per_s);
#else
  return zone.create_host(name, speed_flops_per_s);
#endif
}

inline simgrid::s4u::Link* add_link(simgrid::s4u::NetZone& zone, const std::string& name,
                                    double bandwidth_bytes_per_s) {
#if SIMGRID_VERSION >= 40000
  return zone.add_link(name, bandwidth_bytes_per_s);
#else
  return zone.create_link(name, bandwidth_bytes_per_s);
#endif
}

inline simgrid::s4u::SplitDuplexLink* add_duplex_link(simgrid::s4u::NetZone& zone, const std::string& name,
                                                      double bandwidth_bytes_per_s) {
#if SIMGRID_VERSION >= 40000
  return zone.add_split_duplex_link(name, bandwidth_bytes_per_s);
#else
  return zone.create_split_duplex_link(name, bandwidth_bytes_per_s);
#endif
}

inline simgrid::kernel::routing::NetPoint* add_router(simgrid::s4u::NetZone& zone, const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return zone.add_router(name);
#else
  return zone.create_router(name);
#endif
}

/// A star zone within the parent for the devices of a machine: messages between two of them have no acknowledgements.
simgrid::s4u::NetZone* new_machine_zone(const std::string& name, simgrid::s4u::NetZone& parent);

/// An end of a route: a host, or a zone and its gateway, or nothing where an arm of a star meets all others.
struct RouteEnd {
  simgrid::kernel::routing::NetPoint* point = nullptr;
  simgrid::kernel::routing::NetPoint* gateway = nullptr;
};
enum class Ways { one, both };
void add_route(simgrid::s4u::NetZone& zone, RouteEnd from, RouteEnd to,
               const std::vector<simgrid::s4u::LinkInRoute>& links, Ways ways = Ways::both);

/// By what the latency or the bandwidth of a flow is multiplied.
using FlowFactor = std::function<double(double bytes, const simgrid::s4u::Host* source,
                                        const simgrid::s4u::Host* target, const std::vector<simgrid::s4u::Link*>& links,
                                        const std::unordered_set<simgrid::s4u::NetZone*>&)>;
void set_latency_factor(const FlowFactor& factor);
void set_bandwidth_factor(const FlowFactor& factor);

/// Lets SimGrid's model of InfiniBand count each transfer once, and until it is over, whether it finishes or fails.
/// Call it when hosts are there.
void count_transfers_once();

inline simgrid::s4u::ActorPtr new_actor(const std::string& name, simgrid::s4u::Host* host,
                                        const std::function<void()>& body) {
#if SIMGRID_VERSION >= 40000
  return simgrid::s4u::Engine::add_actor(name, host, body);
#else
  return simgrid::s4u::Actor::create(name, host, body);
#endif
}

/// Appends the places of the links on the way from a host of a zone to another. Hosts count from 0 in the order of
/// their creation.
using RouteFunction = std::function<void(int from, int to, std::vector<int>& links)>;

/// A zone that stores no route: it asks for each when a message begins. Create hosts and links, then compute_routes().
simgrid::s4u::NetZone* new_computed_zone(const std::string& name);

/// The routes of a zone made by new_computed_zone(), over these links.
/// inside_host: whether messages between two hosts have no acknowledgements.
void compute_routes(simgrid::s4u::NetZone& zone, const std::vector<simgrid::s4u::LinkInRoute>& links,
                    RouteFunction route, std::function<bool(int from, int to)> inside_host);

}  // namespace simgrad::cluster

#include "cluster/topologies/star.h"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/s4u.hpp>

#include "cluster/fabric/simgrid_versions.h"
#include "cluster/topologies/loopback.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

constexpr double default_device_bandwidth_bytes_per_s = 300e9;
constexpr double default_device_latency_s = 2e-6;
constexpr auto upwards = sg4::LinkInRoute::Direction::UP;

/// A full-duplex link of a star's arm; a route between two arms crosses two, each with half of the latency.
sg4::SplitDuplexLink* new_arm(sg4::NetZone& zone, const std::string& name, double bandwidth, double latency_s) {
  auto* link = add_duplex_link(zone, name, bandwidth);
  link->set_latency(latency_s / 2.0);
  link->seal();
  return link;
}

sg4::Host* new_host(sg4::NetZone& zone, const std::string& name, double speed, sg4::SplitDuplexLink* arm,
                    sg4::Link* loopback) {
  sg4::Host* host = add_host(zone, name, speed);
  const RouteEnd own{host->get_netpoint()};
  add_route(zone, own, {}, {{arm, upwards}});
  add_route(zone, own, own, {sg4::LinkInRoute(loopback)});
  host->seal();
  return host;
}

/// A host beside machines that are zones of their own: alone in its zone, too. Between a zone and a host that lies in
/// no zone beside it, SimGrid 3.32 takes links of other hosts, or none.
sg4::Host* new_lone_host(sg4::NetZone& zone, const std::string& name, double speed, sg4::SplitDuplexLink* arm,
                         sg4::Link* loopback) {
  sg4::NetZone* own = new_star_zone("machine-of-" + name, &zone);
  sg4::Host* host = add_host(*own, name, speed);
  add_route(*own, {host->get_netpoint()}, {host->get_netpoint()}, {sg4::LinkInRoute(loopback)});
  host->seal();
  own->seal();
  add_route(zone, {own->get_netpoint(), host->get_netpoint()}, {}, {{arm, upwards}});
  return host;
}

}  // namespace

void Star::describe(base::Describer& d) {
  d.integer("devices", devices_per_host, "the number of workers that share a host and its NIC, each at `speed`",
            base::Bounds::between(1, 1024));
  d.quantity("device_bandwidth", device_bandwidth_bytes_per_s, base::Unit::bytes_per_second,
             "bandwidth of each device to the others of its host, each direction; default: 300GB/s",
             base::Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.quantity("device_latency", device_latency_s, base::Unit::seconds,
             "latency between devices of a host, one way; default: 2us", base::Bounds::between(0, 1e6));
  const auto refuse_alone = [&](const char* key, bool is_there) {
    if (is_there && devices_per_host == 1)
      d.refuse(key,
               fmt::format("\"{}\" says how the devices of a host are connected, but devices = 1; leave it out, or "
                           "set devices",
                           key));
  };
  refuse_alone("device_bandwidth", device_bandwidth_bytes_per_s.has_value());
  refuse_alone("device_latency", device_latency_s.has_value());
}

std::string Star::refusal(const HostSpec& machine, std::int64_t /*hosts*/) const {
  const double inside = device_latency_s.value_or(default_device_latency_s);
  if (devices_per_host == 1 || inside <= machine.latency_s) return {};
  return fmt::format(
      "device_latency = {} s inside a host is longer than latency = {} s between hosts; expected at most "
      "as long",
      inside, machine.latency_s);
}

std::vector<sg4::Host*> Star::build(const Blueprint& blueprint) const {
  const HostSpec& machine = blueprint.host_spec;
  const int hosts = blueprint.hosts;
  sg4::NetZone* zone = new_star_zone("star");
  sg4::Link* own_loopback = new_loopback(*zone, "loopback");
  std::vector<sg4::Host*> built;
  built.reserve(static_cast<std::size_t>(hosts));
  const auto name = [&] { return fmt::format("host-{}", built.size()); };
  const double inside_s = device_latency_s.value_or(default_device_latency_s);
  const double inside_bandwidth = device_bandwidth_bytes_per_s.value_or(default_device_bandwidth_bytes_per_s);
  const int shared = devices_per_host > 1 ? std::min(hosts, blueprint.workers) : 0;
  for (int nic = 0; std::cmp_less(built.size(), shared); ++nic) {
    sg4::NetZone* inside = new_machine_zone(fmt::format("machine-{}", nic), *zone);
    sg4::Link* loopback = new_loopback(*inside, fmt::format("loopback-{}", nic));
    const int last = std::min(static_cast<int>(built.size()) + static_cast<int>(devices_per_host), shared);
    while (std::cmp_less(built.size(), last)) {
      auto* arm = new_arm(*inside, fmt::format("device-{}", built.size()), inside_bandwidth, inside_s);
      built.push_back(new_host(*inside, name(), blueprint.speed(built.size()), arm, loopback));
    }
    auto* gateway = add_router(*inside, fmt::format("gateway-{}", nic));
    inside->seal();
    // A route between hosts crosses two devices' arms and two NICs: the latency in all.
    auto* arm = new_arm(*zone, fmt::format("nic-{}", nic), machine.bandwidth_bytes_per_s, machine.latency_s - inside_s);
    add_route(*zone, {inside->get_netpoint(), gateway}, {}, {{arm, upwards}});
  }
  while (std::cmp_less(built.size(), hosts)) {
    auto* arm = new_arm(*zone, fmt::format("nic-{}", built.size()), machine.bandwidth_bytes_per_s, machine.latency_s);
    built.push_back(shared > 0 ? new_lone_host(*zone, name(), blueprint.speed(built.size()), arm, own_loopback)
                               : new_host(*zone, name(), blueprint.speed(built.size()), arm, own_loopback));
  }
  zone->seal();
  return built;
}

}  // namespace simgrad::cluster

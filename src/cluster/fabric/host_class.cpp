#include "cluster/fabric/host_class.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array host_roles{Choice{"worker", "the workers in order, class by class"},
                                Choice{"server", "the hosts of servers, class by class"}};

}  // namespace

void HostClass::describe(base::Describer& d) {
  d.text("class", name, "the class's name in ranks.csv and in prices");
  d.integer("count", count, "the number of hosts", Bounds::between(1, most_ranks));
  d.choice("role", role, host_roles, "the ranks that these hosts take");
  d.quantity("speed", speed_flops_per_s, Unit::flops_per_second, "sustained speed of each host; default: cluster.speed",
             Bounds{.least = 0.0, .most = 1e21, .positive = true});
  d.component("device", device, "the device of each host; default: cluster.device, unless the class has a speed");
  d.quantity("price", price_dollars_per_hour, Unit::dollars_per_hour, "price of each host", Bounds::at_least(0));
  d.quantity("idle", idle_watts, Unit::watts, "power of each host while idle", Bounds::at_least(0));
  d.quantity("busy", busy_watts, Unit::watts, "power of each host while it computes", Bounds::at_least(0));
  if (name.empty()) d.refuse("class", "a class of hosts needs a name, as in class = \"gpu\"");
  if (speed_flops_per_s && device && device->there())
    d.refuse("speed",
             "\"speed\" contradicts \"device\", whose peaks and memory bandwidth say it; leave one of them out");
  if (idle_watts && busy_watts && *busy_watts < *idle_watts)
    d.refuse("busy", fmt::format("busy = {} W is less than idle = {} W; a host that computes draws at least as much",
                                 *busy_watts, *idle_watts));
}

const HostClass* class_of(std::span<const HostClass> classes, std::int64_t workers, int host) {
  const HostRole role = host < workers ? HostRole::worker : HostRole::server;
  std::int64_t place = host < workers ? host : host - workers;
  for (const HostClass& each : classes) {
    if (each.role != role) continue;
    if (place < each.count) return &each;
    place -= each.count;
  }
  return nullptr;
}

void check_host_classes(base::Describer& d, const std::vector<HostClass>& classes, std::int64_t workers) {
  std::int64_t for_workers = 0;
  std::set<std::string> names;
  for (const HostClass& each : classes) {
    if (each.role == HostRole::worker) for_workers += each.count;
    if (!each.name.empty() && !names.insert(each.name).second)
      d.refuse("hosts", fmt::format("two classes of hosts are called \"{}\"; give each a name of its own", each.name));
  }
  if (for_workers > workers)
    d.refuse("hosts", fmt::format("the classes have {} hosts for workers, but workers = {}; expected at most as many",
                                  for_workers, workers));
}

}  // namespace simgrad::cluster

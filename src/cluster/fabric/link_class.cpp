#include "cluster/fabric/link_class.h"

#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <vector>

#include "cluster/fabric/inventory.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// SimGrid calls the links of <cluster id="pod"> pod_link_0, ..., and gives its properties to the hosts.
const char* class_of_cluster_link(const std::string& name) {
  const auto at = name.rfind("_link_");
  if (at == std::string::npos) return nullptr;
  const sg4::NetZone* cluster = sg4::Engine::get_instance()->netzone_by_name_or_null(name.substr(0, at));
  if (!cluster) return nullptr;
  const std::vector<sg4::Host*> hosts = cluster->get_all_hosts();
  return hosts.empty() ? nullptr : hosts.front()->get_property("link_class");
}

}  // namespace

std::string link_class(const sg4::Link& link, bool on_platform) {
  const std::string& name = link.get_name();
  const std::string both = without_direction(name);
  if (!on_platform) return both.substr(0, both.rfind('-'));
  if (const char* own = link.get_property("class")) return own;
  if (const char* shared = class_of_cluster_link(name)) return shared;
  if (both == name) return "link";
  try {
    const char* shared = sg4::SplitDuplexLink::by_name(both)->get_property("class");
    return shared ? shared : "link";
  } catch (const std::invalid_argument&) {  // no full-duplex link, but one that is called as if it were a half of one
    return "link";
  }
}

}  // namespace simgrad::cluster

#include "cluster/fabric/routes.h"

#include <simgrid/s4u.hpp>

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

std::vector<sg4::Link*> route_between(const sg4::Host* source, const sg4::Host* target, double* latency_s) {
  std::vector<sg4::Link*> route;
  double latency = 0.0;
  source->route_to(target, route, &latency);
  if (latency_s) *latency_s = latency;
  return route;
}

bool messages_share(const simgrid::s4u::Link& link) {
  return link.get_sharing_policy() != simgrid::s4u::Link::SharingPolicy::FATPIPE;
}

}  // namespace simgrad::cluster

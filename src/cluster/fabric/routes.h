/// The links from host to host.
#pragma once

#include <vector>

namespace simgrid::s4u {
class Host;
class Link;
}  // namespace simgrid::s4u

namespace simgrad::cluster {

/// latency_s: if given, becomes SimGrid's latency of the whole route, one way.
std::vector<simgrid::s4u::Link*> route_between(const simgrid::s4u::Host* source, const simgrid::s4u::Host* target,
                                               double* latency_s = nullptr);

/// Whether messages share the link's bandwidth; else each has all of it (SimGrid's FATPIPE).
bool messages_share(const simgrid::s4u::Link& link);

}  // namespace simgrad::cluster

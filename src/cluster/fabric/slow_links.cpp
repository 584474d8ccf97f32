#include "cluster/fabric/slow_links.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>

#include "base/errors.h"
#include "base/text.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// The link of that name, or the two directions of a full-duplex one.
std::vector<sg4::Link*> called(const std::string& name) {
  std::vector<sg4::Link*> found;
  std::vector<std::string> known;
  for (sg4::Link* link : sg4::Engine::get_instance()->get_all_links()) {
    if (link->get_name() == name || link->get_name() == name + "_UP" || link->get_name() == name + "_DOWN")
      found.push_back(link);
    known.push_back(link->get_name());
  }
  if (found.empty())
    throw base::ScenarioError(
        fmt::format("cluster.slow_links: there is no link \"{}\"{}", name, base::suggestion(name, known)));
  return found;
}

}  // namespace

void slow_down_links(const Options& options) {
  if (options.efficiency < 1.0)
    for (sg4::Link* link : sg4::Engine::get_instance()->get_all_links())
      if (link->get_sharing_policy() != sg4::Link::SharingPolicy::FATPIPE)
        link->set_bandwidth(options.efficiency * link->get_bandwidth());
  for (const SlowLink& slow : options.slow_links)
    for (sg4::Link* link : called(slow.link)) link->set_bandwidth(slow.factor * link->get_bandwidth());
}

}  // namespace simgrad::cluster

/// Pairs of hosts that met on a link because a hash chose the ways of both.
#include <fmt/format.h>

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/link_class.h"
#include "cluster/fabric/routes.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"
#include "cluster/usage/usage.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

void add_collisions(record::Record& record, const World& world) {
  const Cluster& cluster = world.cluster();
  if (!cluster.options().platform.empty()) return;
  const std::vector<std::string> hashed = cluster.options().topology->hashed_links();
  if (hashed.empty()) return;
  std::vector<std::pair<int, int>> ends;
  for (const auto& [ranks, sent] : world.traffic().by_ranks())
    if (sent.bytes > 0) ends.emplace_back(world.host(ranks.first), world.host(ranks.second));
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::unordered_map<const sg4::Link*, int> pairs_on;
  std::vector<std::vector<const sg4::Link*>> chosen;  // those of each pair that had a choice
  for (const auto& [source, target] : ends) {
    std::vector<const sg4::Link*> links;
    for (const sg4::Link* link : route_between(cluster.host(source), cluster.host(target)))
      if (std::ranges::find(hashed, link_class(*link, false)) != hashed.end()) links.push_back(link);
    for (const sg4::Link* link : links) ++pairs_on[link];
    if (!links.empty()) chosen.push_back(std::move(links));
  }
  if (chosen.empty()) return;
  const auto meets = [&](const auto& links) {
    return std::ranges::any_of(links, [&](const sg4::Link* link) { return pairs_on[link] > 1; });
  };
  record.notes.push_back(
      fmt::format("{} of {} pairs of hosts share a link between switches with another pair (routing = \"ecmp\")",
                  std::ranges::count_if(chosen, meets), chosen.size()));
}

}  // namespace simgrad::cluster

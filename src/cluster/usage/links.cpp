/// Bytes of each link, in all and over time.
#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>
#include <unordered_map>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/link_class.h"
#include "cluster/fabric/routes.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"
#include "cluster/usage/usage.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

void add_links(record::Record& record, const World& world) {
  const Cluster& cluster = world.cluster();
  std::unordered_map<const sg4::Link*, std::size_t> row;
  const bool on_platform = !cluster.options().platform.empty();
  const auto use = [&](const sg4::Link* link) -> record::LinkUse& {
    const auto [at, fresh] = row.try_emplace(link, record.links.size());
    if (fresh) record.links.push_back({link->get_name(), 0, 0.0, link_class(*link, on_platform), {}});
    return record.links[at->second];
  };
  const auto route = [&](int source, int target) { return route_between(cluster.host(source), cluster.host(target)); };
  for (const auto& [ranks, sent] : world.traffic().by_ranks()) {
    if (sent.bytes == 0) continue;
    for (const sg4::Link* link : route(world.host(ranks.first), world.host(ranks.second)))
      use(link).bytes += sent.bytes;
  }
  for (const auto& [hosts, bytes] : world.traffic().background())
    for (const sg4::Link* link : route(hosts.first, hosts.second)) {
      record::LinkUse& link_use = use(link);
      link_use.background_bytes = link_use.background_bytes.value_or(0) + std::llround(bytes);
    }
  if (!(world.now() > world.start_s())) return;
  for (const auto& [link, at] : row) {
    record::LinkUse& link_use = record.links[at];
    const auto bytes = static_cast<double>(link_use.bytes + link_use.background_bytes.value_or(0));
    // A transfer that is under way at the end counts in full, though it has not all been carried.
    link_use.utilisation = std::min(bytes / (cluster.bandwidth(*link) * (world.now() - world.start_s())), 1.0);
  }
}

void add_link_bins(record::Record& record, const World& world) {
  const LinkBins* const bins = world.traffic().bins();
  const double end_s = world.now();
  if (!bins || !(end_s > world.start_s())) return;
  const Cluster& cluster = world.cluster();
  std::map<std::string, std::pair<const sg4::Link*, std::vector<double>>> by_link;
  for (const auto& [hosts, bytes] : bins->bytes())
    for (const sg4::Link* link : route_between(cluster.host(hosts.first), cluster.host(hosts.second))) {
      auto& [named_link, sums] = by_link[link->get_name()];
      named_link = link;
      sums.resize(bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) sums[i] += bytes[i];
    }
  const double width = bins->width_s();
  for (const auto& [name, use] : by_link)
    for (std::size_t i = 0; i < use.second.size() && static_cast<double>(i) * width < end_s; ++i) {
      const double from = static_cast<double>(i) * width, to = std::min(from + width, end_s);
      // A transfer's bytes count evenly over its duration, though it was faster while fewer others shared the link.
      const double share = std::min(use.second[i] / (cluster.bandwidth(*use.first) * (to - from)), 1.0);
      record.link_bins.push_back({name, from, to, use.second[i], share});
    }
}

}  // namespace simgrad::cluster

/// The links that the messages of each dimension of a mesh go over.
#include <algorithm>
#include <map>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/link_class.h"
#include "cluster/fabric/routes.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"
#include "cluster/usage/usage.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// Bytes by link, in the order in which links are first used: sums do not depend on addresses.
class LinkBytes {
 public:
  void add(const sg4::Link* link, std::int64_t bytes) {
    const auto [at, fresh] = row_.try_emplace(link, all_.size());
    if (fresh) all_.emplace_back(link, 0);
    all_[at->second].second += bytes;
  }
  const std::vector<std::pair<const sg4::Link*, std::int64_t>>& all() const { return all_; }

 private:
  std::unordered_map<const sg4::Link*, std::size_t> row_;
  std::vector<std::pair<const sg4::Link*, std::int64_t>> all_;
};

}  // namespace

void add_dimensions(record::Record& record, const World& world, const std::vector<std::string>& names,
                    const std::function<std::size_t(int source, int target)>& dimension_of) {
  const Cluster& cluster = world.cluster();
  const bool on_platform = !cluster.options().platform.empty();
  const double time_s = world.now() - world.start_s();
  std::vector<LinkBytes> bytes(names.size());
  for (const auto& [ranks, sent] : world.traffic().by_ranks()) {
    if (sent.bytes == 0) continue;
    LinkBytes& link_bytes = bytes[dimension_of(ranks.first, ranks.second)];
    for (const sg4::Link* link :
         route_between(cluster.host(world.host(ranks.first)), cluster.host(world.host(ranks.second))))
      link_bytes.add(link, sent.bytes);
  }
  for (std::size_t d = 0; d < names.size(); ++d) {
    std::map<std::string, record::DimensionUse> by_class;
    for (const auto& [link, sum] : bytes[d].all()) {
      record::DimensionUse& use = by_class[link_class(*link, on_platform)];
      use.links += 1;
      use.bytes += sum;
      if (!(time_s > 0.0)) continue;
      const double share = std::min(static_cast<double>(sum) / (cluster.bandwidth(*link) * time_s), 1.0);
      use.utilisation_max = std::max(use.utilisation_max, share);
      use.utilisation += share;
    }
    for (auto& [link_class, use] : by_class) {
      use.dimension = names[d];
      use.link_class = link_class;
      use.utilisation /= static_cast<double>(use.links);
      record.dimensions.push_back(use);
    }
  }
}

}  // namespace simgrad::cluster

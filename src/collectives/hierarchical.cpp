#include "collectives/hierarchical.h"

#include <algorithm>
#include <map>
#include <vector>

#include "cluster/options.h"
#include "collectives/binomial.h"
#include "collectives/ring.h"

namespace simgrad::collectives {

using cluster::Communicator;
using values::Combination;
using values::Tensor;

namespace {

/// Members by locality, in the order of their ranks.
std::vector<std::vector<int>> by_locality(const Communicator& comm) {
  std::map<int, std::vector<int>> found;
  for (int m = 0; m < comm.size(); ++m) found[comm.locality(m)].push_back(m);
  std::vector<std::vector<int>> groups;
  for (auto& [locality, members] : found) groups.push_back(std::move(members));
  return groups;
}

}  // namespace

std::string Hierarchical::refusal(const cluster::Options& cluster) const {
  if (cluster.platform.empty() && cluster.topology->has_localities()) return {};
  if (!cluster.platform.empty())
    return "algorithm = \"hierarchical\" works inside hosts first, but on the hosts of cluster.platform there is one "
           "rank "
           "each; choose algorithm = \"ring\"";
  return "algorithm = \"hierarchical\" works inside hosts first, but cluster.topology puts one rank on each; give the "
         "hosts several (topology = { kind = \"star\", devices = 4 }), or choose algorithm = \"ring\"";
}

Tensor Hierarchical::combine(const Communicator& comm, Tensor x, Combination how) const {
  const auto groups = by_locality(comm);
  const auto& mine = *std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
    return std::find(group.begin(), group.end(), comm.rank()) != group.end();
  });
  const Communicator inside = comm.subgroup(mine);
  const bool even = std::all_of(groups.begin(), groups.end(), [&](const auto& g) { return g.size() == mine.size(); });
  std::vector<int> peers;  // one of every host
  for (const auto& group : groups) peers.push_back(group[even ? static_cast<std::size_t>(inside.rank()) : 0]);
  if (even) {
    const Tensor chunk = reduce_scatter(inside, x, how);
    return all_gather(inside, Ring().combine(comm.subgroup(peers), chunk, how), x.size());
  }
  Tensor total = reduce(inside, 0, x, how);
  if (inside.rank() == 0) total = Ring().combine(comm.subgroup(peers), total, how);
  return BinomialBroadcast()(inside, 0, total, x.size()).tensor;
}

}  // namespace simgrad::collectives

#include "collectives/auto.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "cluster/computed/idle_network.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/world.h"
#include "collectives/binomial.h"
#include "collectives/butterfly.h"
#include "collectives/computed_only.h"
#include "collectives/double_binary_tree.h"
#include "collectives/hierarchical.h"
#include "collectives/nccl.h"
#include "collectives/ring.h"

namespace simgrad::collectives {

using cluster::ChosenSum;
using cluster::Communicator;
using cluster::IdleNetwork;
using cluster::LocalGroups;
using values::Combination;
using values::Tensor;

namespace {

/// NCCL's rings and trees divide their links among themselves and see nothing else there: they are for sums of all
/// ranks, beside which nothing is on the links.
bool nccl_is_possible(const Communicator& comm) {
  const LocalGroups& groups = comm.local_groups();
  return groups.hosts[groups.largest_host].size() > 1 && comm.size() == comm.world().size() &&
         may_be_computed_only(comm);
}

std::vector<std::shared_ptr<const Allreduce>> candidates(const Communicator& comm) {
  std::vector<std::shared_ptr<const Allreduce>> all;
  const bool cut = comm.world().cut_model();
  if (!cut || std::has_single_bit(static_cast<unsigned>(comm.size())))
    all = {std::make_shared<RecursiveDoubling>(), std::make_shared<Rabenseifner>()};
  all.push_back(std::make_shared<Ring>());
  if (cut) return all;
  all.push_back(std::make_shared<Tree>());
  all.push_back(std::make_shared<DoubleBinaryTree>());
  const LocalGroups& groups = comm.local_groups();
  const bool several_groups = groups.groups.size() > 1 && std::cmp_less(groups.groups.size(), comm.size());
  if (groups.even && several_groups) {
    auto hierarchical = std::make_shared<Hierarchical>();
    hierarchical->at_once = true;
    all.push_back(std::move(hierarchical));
  }
  if (nccl_is_possible(comm)) {
    auto nccl = std::make_shared<Nccl>();
    nccl->slices = 2;
    nccl->call_s = 0.0;
    all.push_back(std::move(nccl));
  }
  return all;
}

ChosenSum fastest(const Communicator& comm, const Extent& x) {
  constexpr double rounding = 1e-9;
  std::vector<int> members;
  for (int m = 0; m < comm.size(); ++m) members.push_back(comm.world_rank(m));
  const IdleNetwork network(comm.world(), members);
  ChosenSum best{.algorithm = nullptr, .name = {}, .bytes = x.wire.bytes(x.length), .members = comm.size()};
  double best_s = std::numeric_limits<double>::infinity();
  for (const std::shared_ptr<const Allreduce>& candidate : candidates(comm)) {
    const auto timing = candidate->timing(comm, x, Combination::add);
    if (!timing) continue;
    // A short vector's messages go between the same members.
    const auto shorter = candidate->timing(comm, {comm.size(), x.wire}, Combination::add);
    const auto& pairs = shorter->name() == timing->name() ? shorter : timing;
    const double seconds = network.seconds(*timing, *pairs, best_s);
    if (best.algorithm && !(seconds < (1.0 - rounding) * best_s)) continue;
    best.algorithm = candidate;
    best.name = timing->name();
    best_s = seconds;
  }
  return best;
}

}  // namespace

const Allreduce& Auto::chosen(const Communicator& comm, const Extent& x) const {
  auto& known = comm.local_groups().chosen_sums;
  const std::pair key(x.length, x.wire.bytes(x.length));
  auto at = known.find(key);
  if (at == known.end()) at = known.emplace(key, fastest(comm, x)).first;
  return static_cast<const Allreduce&>(*at->second.algorithm);
}

std::shared_ptr<const cluster::CollectiveTiming> Auto::timing(const Communicator& comm, const Extent& x,
                                                              Combination how) const {
  return chosen(comm, x).timing(comm, x, how);
}

Tensor Auto::combine(const Communicator& comm, Tensor x, Combination how) const {
  if (comm.size() == 1) return x;
  const Allreduce& algorithm = chosen(comm, Extent(x));
  return algorithm.combine(comm, std::move(x), how);
}

}  // namespace simgrad::collectives

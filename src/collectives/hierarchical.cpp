#include "collectives/hierarchical.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/computed/collective_phases.h"
#include "cluster/options.h"
#include "cluster/ranks/local_groups.h"
#include "collectives/binomial.h"
#include "collectives/ring.h"

namespace simgrad::collectives {

using cluster::Communicator;
using values::Combination;
using values::Tensor;

namespace {

std::shared_ptr<const cluster::CollectiveTiming> ring_timing(const Extent& x, int P, Combination how) {
  return timing_of(Ring().schedule(x, P), how);
}

/// Inside every host, then among the members at one place of all hosts, then inside every host.
cluster::CollectivePhases phases(const cluster::LocalGroups& hosts, const Extent& x, Combination how) {
  const std::size_t devices = hosts.groups.front().size();
  const Split split(x, static_cast<int>(devices));
  const std::int64_t largest = split.bytes(split.largest());
  cluster::CollectivePhases all;
  const auto inside = [&](const std::shared_ptr<const JointSchedule>& schedule, std::int64_t bytes) {
    const auto timing = timing_of(schedule, how);
    cluster::CollectivePhase& phase = all.phases.emplace_back();
    for (const std::vector<int>& host : hosts.groups) phase.push_back({host, timing, bytes});
  };
  if (devices > 1) inside(ring_reduce_scatter(split), split.bytes(split.whole()));
  if (hosts.groups.size() > 1) {
    cluster::CollectivePhase& across = all.phases.emplace_back();
    for (std::size_t d = 0; d < devices; ++d) {
      std::vector<int> peers;
      for (const std::vector<int>& host : hosts.groups) peers.push_back(host[d]);
      const Extent chunk(split.chunk(static_cast<int>(d)).count, x.wire);
      across.push_back({peers, ring_timing(chunk, static_cast<int>(peers.size()), how), x.wire.bytes(chunk.length)});
    }
  }
  if (devices > 1) inside(ring_all_gather(split), largest);
  return all;
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

bool Hierarchical::is_one_collective(const Communicator& comm) const { return comm.local_groups().even; }

Tensor Hierarchical::combine(const Communicator& comm, Tensor x, Combination how) const {
  if (comm.size() == 1) return x;
  const cluster::LocalGroups& hosts = comm.local_groups();
  const Extent extent(x);
  if (hosts.even && comm.may_compute()) {
    const auto key = [&] {
      return fmt::format("hierarchical {} of {} {}", extent.length, extent.wire.bytes_per_number,
                         static_cast<int>(how));
    };
    const auto its_phases = [&] { return phases(hosts, extent, how); };
    return comm.compute_in_phases(std::cref(key), std::cref(its_phases), std::move(x));
  }
  const Communicator inside = comm.subgroup(hosts.around(comm.rank()));
  std::vector<int> peers;  // one of every host
  for (const auto& group : hosts.groups)
    peers.push_back(group[hosts.even ? static_cast<std::size_t>(inside.rank()) : 0]);
  if (hosts.even) {
    const Tensor chunk = reduce_scatter(inside, x, how);
    return all_gather(inside, Ring().combine(comm.subgroup(peers), chunk, how), x.size());
  }
  Tensor total = reduce(inside, 0, x, how);
  if (inside.rank() == 0) total = Ring().combine(comm.subgroup(peers), total, how);
  return BinomialBroadcast()(inside, 0, total, x.size()).tensor;
}

}  // namespace simgrad::collectives

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

Ring ring_in(std::int64_t slices) {
  Ring ring;
  ring.slices = slices;
  return ring;
}

template <class Run>
Tensor with_name(const Communicator& comm, record::Work work, const Run& run) {
  const cluster::WorkScope work_scope(comm, work);
  return run();
}

/// Inside every host, then among the members at one place of all hosts, then inside every host.
cluster::CollectivePhases phases(const cluster::LocalGroups& hosts, const Extent& x, Combination how,
                                 std::int64_t slices) {
  const std::size_t devices = hosts.groups.front().size();
  const Split split(x, static_cast<int>(devices));
  const std::int64_t largest = split.bytes(split.largest());
  cluster::CollectivePhases all;
  const auto inside = [&](const std::shared_ptr<const JointSchedule>& schedule, std::int64_t bytes) {
    const auto timing = timing_of(schedule, how);
    cluster::CollectivePhase& phase = all.phases.emplace_back();
    for (const std::vector<int>& host : hosts.groups) phase.push_back({host, timing, bytes});
  };
  if (devices > 1) inside(ring_reduce_scatter(split, slices), split.bytes(split.whole()));
  if (hosts.groups.size() > 1) {
    cluster::CollectivePhase& across = all.phases.emplace_back();
    for (std::size_t d = 0; d < devices; ++d) {
      std::vector<int> peers;
      for (const std::vector<int>& host : hosts.groups) peers.push_back(host[d]);
      const Extent chunk(split.chunk(static_cast<int>(d)).count, x.wire);
      const auto timing = timing_of(ring_in(slices).schedule(chunk, static_cast<int>(peers.size())), how);
      across.push_back({peers, timing, x.wire.bytes(chunk.length)});
    }
  }
  if (devices > 1) inside(ring_all_gather(split, slices), largest);
  return all;
}

}  // namespace

void Hierarchical::describe(base::Describer& d) {
  d.integer("slices", slices, "the slices in which each chunk of its rings travels, as the ring's option; 1: in rounds",
            base::Bounds::between(1, 64));
}

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
      return fmt::format("hierarchical {} of {} {} in {}", extent.length, extent.wire.bytes_per_number,
                         static_cast<int>(how), slices);
    };
    const auto its_phases = [&] { return phases(hosts, extent, how, slices); };
    return comm.compute_in_phases(std::cref(key), std::cref(its_phases), std::move(x));
  }
  const Communicator inside = comm.subgroup(hosts.around(comm.rank()));
  std::vector<int> peers;  // one of every host
  for (const auto& group : hosts.groups)
    peers.push_back(group[hosts.even ? static_cast<std::size_t>(inside.rank()) : 0]);
  if (hosts.even) {
    const Split split(extent, inside.size());
    const Tensor chunk = with_name(inside, record::Work::reduce_scatter, [&] {
      return run_collective(
          inside, [&] { return ring_reduce_scatter(split, slices); }, x, how);
    });
    const Tensor sum = ring_in(slices).combine(comm.subgroup(peers), chunk, how);
    return with_name(inside, record::Work::all_gather, [&] {
      return run_collective(
          inside, [&] { return ring_all_gather(split, slices); }, sum);
    });
  }
  Tensor total = reduce(inside, 0, x, how);
  if (inside.rank() == 0) total = ring_in(slices).combine(comm.subgroup(peers), total, how);
  return BinomialBroadcast()(inside, 0, total, x.size()).tensor;
}

}  // namespace simgrad::collectives

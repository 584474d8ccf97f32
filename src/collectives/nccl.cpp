#include "collectives/nccl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cluster/computed/network_routes.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/world.h"
#include "collectives/computed_only.h"

namespace simgrad::collectives {

using cluster::Communicator;
using values::Combination;
using values::Tensor;

namespace {

constexpr std::array insides{base::Choice{"nvlink", "NVLink: the protocol LL128 is used"},
                             base::Choice{"pcie", "PCI Express: LL and Simple alone"}};
constexpr std::array generations{base::Choice{"volta", "V100"}, base::Choice{"ampere", "A100"},
                                 base::Choice{"hopper", "H100"}};

/// The bandwidth of a message between two members.
double bandwidth_between(const Communicator& comm, int member, int other) {
  const int from = comm.world_rank(member), to = comm.world_rank(other);
  if (comm.world().same_host(from, to)) return std::numeric_limits<double>::infinity();
  cluster::LinkNumbers numbers(comm.world().cluster());
  return cluster::route_of_ranks(comm.world(), from, to, numbers).alone_bytes_per_s();
}

}  // namespace

void Nccl::describe(base::Describer& d) {
  d.choice("inside", inside, insides, "the kind of links inside a host, for NCCL's choice of algorithm");
  d.choice("generation", generation, generations, "the generation of the GPUs, for NCCL's choice of algorithm");
  d.integer("channels", channels,
            "the number of NCCL's channels, for its choice of algorithm; default: one for each 20 GB/s of the ring, "
            "but at least two",
            base::Bounds::between(1, 64));
  d.integer("slices", slices, "the number of slices of each chunk of a ring", base::Bounds::between(2, 64));
  describe_rings(d, rings);
  d.quantity("call", call_s, base::Unit::seconds,
             "the time of a call before its first byte; default: 6.6 us (ring LL), 8.4 us (ring Simple), 14 us "
             "(LL128), 6.8 us (tree LL), 0 s (tree Simple), as NCCL's model has it",
             base::Bounds::between(0, 1e6));
  d.quantity("chunk", chunk_bytes, base::Unit::bytes, "the largest chunk that travels at a time along a tree",
             base::Bounds::between(64, 1e15));
}

NcclFabric Nccl::fabric(const Communicator& comm) const {
  const cluster::LocalGroups& groups = comm.local_groups();
  const std::vector<std::vector<int>>& hosts = groups.hosts;
  const std::vector<int>& largest = hosts[groups.largest_host];
  NcclFabric fabric{
      .ranks = comm.size(), .hosts = static_cast<int>(hosts.size()), .inside = inside, .generation = generation};
  if (largest.size() > 1) fabric.inside_bytes_per_s = bandwidth_between(comm, largest[0], largest[1]);
  if (hosts.size() > 1)
    fabric.nics_bytes_per_s = ring().rings_among(comm) * bandwidth_between(comm, hosts[0].back(), hosts[1].front());
  const double bus = fabric.bus_bytes_per_s(false);
  const double own_channels = std::isfinite(bus) ? std::clamp(std::ceil(bus / 20e9), 2.0, 64.0) : 2.0;
  fabric.channels = static_cast<int>(channels.value_or(static_cast<std::int64_t>(own_channels)));
  return fabric;
}

NcclChoice Nccl::choice(const Communicator& comm, const Extent& x) const {
  return nccl_choice(fabric(comm), static_cast<double>(x.wire.bytes(x.length)));
}

template <class Use>
auto Nccl::with_chosen(const Communicator& comm, const NcclChoice& choice, const Use& use) const {
  if (choice.tree) {
    DoubleBinaryTree nccl_tree = tree(comm);
    nccl_tree.called = choice.name();
    return use(nccl_tree);
  }
  Ring nccl_ring = ring();
  nccl_ring.called = choice.name();
  return use(nccl_ring);
}

Tensor Nccl::combine(const Communicator& comm, Tensor x, Combination how) const {
  if (comm.size() == 1) return x;
  const NcclChoice chosen = choice(comm, Extent(x));
  {
    const cluster::BusyScope calling(comm.world().cluster(), comm.actor(), record::TimePart::communicate_transfer,
                                     {.work = record::Work::allreduce});
    cluster::pause(call_s.value_or(chosen.call_s));
  }
  return with_chosen(comm, chosen, [&](const auto& algorithm) { return algorithm.combine(comm, std::move(x), how); });
}

std::shared_ptr<const cluster::CollectiveTiming> Nccl::timing(const Communicator& comm, const Extent& x,
                                                              Combination how) const {
  return with_chosen(comm, choice(comm, x), [&](const auto& algorithm) { return algorithm.timing(comm, x, how); });
}

Ring Nccl::ring() const {
  Ring nccl_ring;
  nccl_ring.slices = slices;
  nccl_ring.rings = rings;
  return nccl_ring;
}

DoubleBinaryTree Nccl::tree(const Communicator& comm) const {
  DoubleBinaryTree nccl_tree;
  nccl_tree.chunk_bytes = chunk_bytes;
  nccl_tree.overlap = may_be_computed_only(comm);
  return nccl_tree;
}

}  // namespace simgrad::collectives

/// The allreduce that takes the least time, chosen anew for each length of vectors and each group of members.
///
/// Sources: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH",
/// IJHPCA 19, 2005 (one algorithm for short vectors, another one for long ones); NVIDIA, NCCL, src/graph/tuning.cc (the
/// least of predicted times).
#pragma once

#include <memory>

#include "collectives/allreduce.h"

namespace simgrad::cluster {
struct ChosenSum;
}

namespace simgrad::collectives {

/// Where a model is cut among ranks, groups of those with one part sum beside each other on the same links; there the
/// candidates are those in which all members do alike: the ring, and among a power of two of members also recursive
/// doubling and Rabenseifner's algorithm.
///
/// The prediction is the algorithm's own cost on the idle cluster (cluster/computed/idle_network.h), all members coming
/// at once, so that the bytes, the members' places and the cluster's description alone decide: all members choose the
/// same, with numbers and without. Of equal times the algorithm that comes first below is chosen. Cost of a choice: one
/// walk through each algorithm's rounds, up to the time of the best one so far.
struct Auto : Allreduce {
  static constexpr base::About about{
      .kind = "auto",
      .summary =
          "for each vector the algorithm that takes the least time on the idle cluster: recursive_doubling, "
          "rabenseifner, ring, tree, double_binary_tree, among even groups (hosts of devices, racks, sites) also "
          "hierarchical, on hosts of several devices also nccl; where parts of a model are on different ranks, only "
          "the ring and, "
          "among 2, 4, 8, ... ranks, recursive_doubling and rabenseifner",
      .cost =
          "that of the chosen one, by the bytes, the members' places, links and speeds; a note says which was chosen; "
          "nccl is a choice for sums of all ranks, with a ring for each NIC of a host and call = 0 s",
      .source =
          "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005; "
          "NVIDIA, NCCL, src/graph/tuning.cc"};

  cluster::Meets meets() const override { return cluster::Meets::alike; }
  /// Every candidate is one.
  bool is_one_collective(const cluster::Communicator& /*comm*/) const override { return true; }
  std::shared_ptr<const cluster::CollectiveTiming> timing(const cluster::Communicator& comm, const Extent& x,
                                                          values::Combination how) const override;
  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;

  /// The algorithm for sums of such vectors among these members. Chosen once for all of them; takes no virtual time.
  const Allreduce& chosen(const cluster::Communicator& comm, const Extent& x) const;
};

}  // namespace simgrad::collectives

/// NCCL's all-reduce: a ring in slices or a double binary tree, whichever NCCL expects to be faster.
#pragma once

#include <optional>

#include "collectives/allreduce.h"
#include "collectives/double_binary_tree.h"
#include "collectives/nccl_tuning.h"
#include "collectives/ring.h"

namespace simgrad::collectives {

/// The choice follows NCCL's published latencies and bandwidths (nccl_tuning.h) at the bandwidths of this cluster's
/// routes. The chosen algorithm is then simulated on the cluster's own links: the protocol decides the choice alone.
/// Trees go up and down at once (double_binary_tree with overlap), or in rounds where they cannot be computed.
struct Nccl : Allreduce {
  static constexpr base::About about{
      .kind = "nccl",
      .summary = "ring in slices or double binary tree, as NCCL chooses by bytes, ranks and hosts",
      .cost =
          "0 to 14 us of the call (6.6 us ring LL, 8.4 us ring Simple), then that of ring or double_binary_tree; a "
          "note "
          "says which was chosen",
      .source = "NVIDIA, NCCL, src/graph/tuning.cc"};

  NcclInside inside = NcclInside::nvlink;
  NcclGeneration generation = NcclGeneration::ampere;
  std::optional<std::int64_t> channels;  ///< none: one for each 20 GB/s of the bus, two at least
  std::int64_t slices = 2;
  Rings rings;
  double chunk_bytes = 256.0 * 1024.0;
  std::optional<double> call_s;  ///< of a call before its first byte; none: as in NCCL's model

  void describe(base::Describer& d) override;
  std::string refusal(const cluster::Options& cluster) const override { return ring().refusal(cluster); }
  bool is_one_collective(const cluster::Communicator& /*comm*/) const override { return call_s == 0.0; }
  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;

  /// The time of the algorithm that NCCL chooses, without that of the call.
  std::shared_ptr<const cluster::CollectiveTiming> timing(const cluster::Communicator& comm, const Extent& x,
                                                          values::Combination how) const override;

  /// The facts of these members.
  NcclFabric fabric(const cluster::Communicator& comm) const;

 private:
  NcclChoice choice(const cluster::Communicator& comm, const Extent& x) const;
  Ring ring() const;
  /// In rounds where trees cannot be computed from their routes.
  DoubleBinaryTree tree(const cluster::Communicator& comm) const;
  /// Returns use(algorithm), of what is chosen for the vector.
  template <class Use>
  auto with_chosen(const cluster::Communicator& comm, const NcclChoice& choice, const Use& use) const;
};

}  // namespace simgrad::collectives

/// Hierarchical allreduce: inside every host first, then across hosts, then inside again.
///
/// Source: X. Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision: Training ImageNet in
/// Four Minutes", 2018 (hierarchical all-reduce).
#pragma once

#include "collectives/allreduce.h"

namespace simgrad::collectives {

/// Equally many members on every host: a ring reduce-scatter inside, as many ring allreduces across as a host has
/// members, a ring all-gather inside. Else: a binomial reduce to each host's first member, a ring among these, a
/// binomial broadcast.
struct Hierarchical : Allreduce {
  static constexpr base::About about{
      .kind = "hierarchical",
      .summary = "reduce-scatter inside every host, allreduce across hosts, all-gather inside: spares the NICs",
      .cost = "N hosts of g: 2(g-1) alpha_i + 2(g-1)/g M beta_i inside, 2(N-1) alpha + 2(N-1)/N M beta across",
      .source = "X. Jia et al., Highly Scalable Deep Learning Training System with Mixed-Precision, 2018"};

  std::int64_t slices = 1;
  bool at_once = false;  ///< computed as one collective, in which rings of different places may share links

  void describe(base::Describer& d) override;
  std::string refusal(const cluster::Options& cluster) const override;

  /// The time of all groups in all phases, as they share links; null: groups are unequal, or slices are asked for.
  std::shared_ptr<const cluster::CollectiveTiming> timing(const cluster::Communicator& comm, const Extent& x,
                                                          values::Combination how) const override;
  bool is_one_collective(const cluster::Communicator& comm) const override;
  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;
};

}  // namespace simgrad::collectives

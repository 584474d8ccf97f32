/// Binomial trees: in each round every member that has data passes half of its remaining work on.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005. Members are numbered from the root on.
#pragma once

#include "collectives/broadcast.h"
#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

struct Tree : ScheduledAllreduce {
  static constexpr base::About about{
      .kind = "tree",
      .summary = "binomial reduce to one member, then binomial broadcast",
      .cost = "ceil(lg P) (2 alpha + 2 M beta + M gamma)",
      .source =
          "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005"};

  std::shared_ptr<const JointSchedule> schedule(const Extent& x, int P) const override;
};

struct BinomialBroadcast : Broadcast {
  static constexpr base::About about{
      .kind = "binomial",
      .summary = "everybody who has it sends it on, each round twice as many",
      .cost = "ceil(lg P) (alpha + M beta)",
      .source =
          "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005"};

  cluster::Packet operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                             std::int64_t length) const override;
};

/// All members' vectors combined, on the root; no tensor elsewhere.  x: (d).
/// Virtual time: ceil(lg P) (alpha + M beta + M gamma) when all arrive at once.
values::Tensor reduce(const cluster::Communicator& comm, int root, const values::Tensor& x,
                      Reduction reduction = Reduction::sum);

/// Reduces without the division that a mean ends with.
values::Tensor reduce(const cluster::Communicator& comm, int root, const values::Tensor& x, values::Combination how);

/// Chunk r of the root's vector, on member r; chunks as Split cuts them.  x: (length) on the root, ignored elsewhere.
/// Virtual time: lg P alpha + (P-1)/P M beta where P is a power of two that divides the length.
values::Tensor scatter(const cluster::Communicator& comm, int root, const values::Tensor& x, std::int64_t length);
/// The reverse of scatter: x is chunk r of a vector of that length. Returns the vector on the root, no tensor
/// elsewhere.
values::Tensor gather(const cluster::Communicator& comm, int root, const values::Tensor& x, std::int64_t length);

}  // namespace simgrad::collectives

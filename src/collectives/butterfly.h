/// Allreduce along the edges of a hypercube: partners a power of two apart.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005; as in MPICH. Where P is no power of two, P - 2^k members beyond it are folded away: of the first
/// 2 (P - 2^k) members each even one sends its vector to the next member first, and gets the result from it at the end.
#pragma once

#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

struct RecursiveDoubling : ScheduledAllreduce {
  static constexpr base::About about{
      .kind = "recursive_doubling",
      .summary = "partners at distance 1, 2, 4, ... exchange whole vectors: least latency, for short vectors",
      .cost = "lg P (alpha + M beta + M gamma); P not a power of two: + 2 alpha + 2 M beta + M gamma",
      .source =
          "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005"};

  std::shared_ptr<const JointSchedule> schedule(const Extent& x, int P) const override;
};

struct Rabenseifner : ScheduledAllreduce {
  static constexpr base::About about{
      .kind = "rabenseifner",
      .summary =
          "reduce-scatter by recursive halving, the largest halves with the nearest partner, all-gather back: few "
          "messages and few bytes",
      .cost = "2 lg P alpha + 2(P-1)/P M beta + (P-1)/P M gamma; P not a power of two: + 2 alpha + 2 M beta + M gamma",
      .source =
          "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005"};

  std::shared_ptr<const JointSchedule> schedule(const Extent& x, int P) const override;
};

}  // namespace simgrad::collectives

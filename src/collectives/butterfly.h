/// Allreduce along the edges of a hypercube: partners a power of two apart.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005. Where P is no power of two, each member beyond the largest one first sends its vector to a partner below,
/// and gets the result at the end.
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
      .summary = "reduce-scatter by recursive halving, all-gather by recursive doubling: few messages and few bytes",
      .cost = "2 lg P alpha + 2(P-1)/P M beta + (P-1)/P M gamma; P not a power of two: + 2 alpha + 2 M beta + M gamma",
      .source =
          "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005"};

  std::shared_ptr<const JointSchedule> schedule(const Extent& x, int P) const override;
};

}  // namespace simgrad::collectives

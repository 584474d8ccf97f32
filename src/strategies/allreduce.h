/// Data-parallel training with an allreduce: every rank holds a replica, and all apply the sum of all gradients.
///
/// Source: S. Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020.
/// Cost per step: t_c + T_allreduce(P, M) + t_update.
#pragma once

#include "collectives/allreduce.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

struct Allreduce : Strategy {
  static constexpr base::About about{
      .kind = "allreduce",
      .summary = "every rank holds a replica, and all apply the sum of all gradients",
      .cost = "t_c + T_allreduce + t_update a step; ring: 2(P-1) alpha + 2(P-1)/P M beta + (P-1)/P M gamma",
      .source = "S. Li et al., PyTorch Distributed, 2020; P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce, 2009"};

  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "ring"};

  void describe(base::Describer& d) override;
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies

/// MapReduce: a server broadcasts the parameters, every worker maps its rows to the sum of their gradients (the
/// combiner), the server reduces the sums and updates.
///
/// Source: C.-T. Chu et al., "Map-Reduce for Machine Learning on Multicore", NIPS 2006; J. Dean, S. Ghemawat,
/// "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004.
/// Cost per step: t_c + 2 alpha + 2 P M beta + P M gamma + t_update; the server's NIC carries everything.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

struct MapReduce : Strategy {
  static constexpr base::About about{
      .kind = "mapreduce",
      .summary = "a server broadcasts the parameters, workers map their rows to gradient sums, the server reduces them",
      .cost = "t_c + 2 alpha + 2 P M beta + P M gamma + t_update a step",
      .source = "C.-T. Chu et al., Map-Reduce for Machine Learning on Multicore, 2006"};

  int servers() const override { return 1; }
  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override;
};

}  // namespace simgrad::strategies

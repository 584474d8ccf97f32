/// Parameter server: workers pull parameters from a server and push gradients to it.
///
/// Source: M. Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014; asynchronous:
/// J. Dean et al., "Large Scale Distributed Deep Networks" (Downpour SGD), NIPS 2012.
/// Cost per step, bsp, one dedicated server: t_c + 2 alpha + 2 P M beta + P M gamma + t_update.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

enum class Consistency {
  bsp,  ///< a step's gradients are all summed before the parameters change
  asp   ///< every gradient is applied as it comes
};

/// How a worker's part of the gradient counts when it is applied alone.
enum class Part { sum, mean };

struct ParameterServer : Strategy {
  static constexpr base::About about{
      .kind = "parameter_server",
      .summary = "workers pull parameters from a server and push gradients to it",
      .cost = "bsp: t_c + 2 alpha + 2 P M beta + P M gamma + t_update a step; asp: no waiting, stale gradients",
      .source = "M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, 2014"};

  Consistency consistency = Consistency::bsp;
  std::int64_t shards = 1;
  Part part = Part::sum;

  void describe(base::Describer& d) override;
  int servers() const override { return static_cast<int>(shards); }
  bool synchronous() const override { return consistency == Consistency::bsp; }
  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override;

 private:
  void serve_synchronously(Server& server) const;
  void serve_as_they_come(Server& server) const;
};

}  // namespace simgrad::strategies

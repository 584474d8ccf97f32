/// Local SGD: every rank takes H steps on its own replica, then the replicas are averaged.
///
/// Source: S. U. Stich, "Local SGD Converges Fast and Communicates Little", ICLR 2019, Algorithm 1.
/// Cost per round of H steps: H (t_c + t_update) + T_allreduce(P, M) + M gamma/8 for the mean. H = 1 is synchronous SGD.
#pragma once

#include "collectives/allreduce.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

struct LocalSgd : Strategy {
  static constexpr base::About about{
      .kind = "local_sgd",
      .summary = "every rank takes some steps on its own replica, then the replicas are averaged by an allreduce",
      .cost = "t_c + t_update + T_allreduce/H a step",
      .source = "S. U. Stich, Local SGD Converges Fast and Communicates Little, 2019"};

  std::int64_t local_steps = 8;
  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "ring"};

  void describe(base::Describer& d) override;
  bool replicas_differ() const override { return true; }
  bool many_to_many() const override { return algorithm->many_to_many(); }
  std::optional<Unfit> unfit(const Fit& fit) const override {
    const std::string why = algorithm->unfit(fit.cluster);
    return why.empty() ? std::nullopt : std::optional(Unfit{"algorithm", why});
  }
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies

/// Rows that come in while the training goes on.
#pragma once

#include "training/partitions/partition.h"

namespace simgrad::training {

/// At every moment of simulated time a batch is drawn from the rows that came in last: whoever is slow skips rows, and
/// whoever is fast sees some again. evaluate.on = "next" evaluates on those that come next.
struct Stream : Partition {
  static constexpr base::About about{
      .kind = "stream",
      .summary = "rows come in one after the other in simulated time; a batch is drawn from the last `window` of them",
      .cost = "",
      .source =
          "J. Gama, I. Zliobaite, A. Bifet, M. Pechenizkiy, A. Bouchachia, A Survey on Concept Drift Adaptation, 2014"};

  double duration_s = 60.0;
  std::int64_t window = 1000;

  void describe(base::Describer& d) override;
  bool shared() const override { return true; }
  bool shuffled() const override { return false; }
  std::optional<Inflow> inflow() const override { return Inflow{duration_s, window}; }
  DataShards shards(const Owned& owned, int parts) const override;
};

}  // namespace simgrad::training

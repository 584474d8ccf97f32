/// Shards of different sizes, each a random sample of all rows.
#pragma once

#include "training/partitions/partition.h"

namespace simgrad::training {

/// Every rank has one row. The other rows are cut into stretches by one draw of the symmetric Dirichlet distribution.
struct Quantity : Partition {
  static constexpr base::About about{
      .kind = "quantity",
      .summary = "ranks have Dirichlet(alpha) proportions of the shuffled rows: unequally many, equally distributed",
      .cost = "",
      .source =
          "Q. Li, Y. Diao, Q. Chen, B. He, Federated Learning on Non-IID Data Silos: An Experimental Study, 2022"};

  double alpha = 0.5;

  void describe(base::Describer& d) override;
  bool uneven() const override { return true; }
  DataShards shards(const Owned& owned, int parts) const override;
};

}  // namespace simgrad::training

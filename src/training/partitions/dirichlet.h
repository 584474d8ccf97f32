/// Each class's rows go to the ranks in random proportions: ranks differ in their classes and in size.
#pragma once

#include "training/partitions/partition.h"

namespace simgrad::training {

/// For each class the proportions of the ranks are one draw of the symmetric Dirichlet distribution. A rank without
/// rows is given a row of the largest shard.
struct Dirichlet : Partition {
  static constexpr base::About about{
      .kind = "dirichlet",
      .summary = "each class's rows go to the ranks in Dirichlet(alpha) proportions",
      .cost = "",
      .source =
          "T.-M. H. Hsu et al., Measuring the Effects of Non-Identical Data Distribution for Federated Visual "
          "Classification, 2019; class by class: M. Yurochkin et al., Bayesian Nonparametric Federated Learning "
          "of Neural Networks, 2019"};

  double alpha = 0.5;

  void describe(base::Describer& d) override;
  bool uneven() const override { return true; }
  bool by_class() const override { return true; }
  bool sizes_by_class() const override { return true; }
  DataShards shards(const Owned& owned, int parts) const override;
};

}  // namespace simgrad::training

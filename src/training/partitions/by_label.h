/// Rows sorted by class, dealt in stretches: a rank sees few classes.
#pragma once

#include "training/partitions/partition.h"

namespace simgrad::training {

/// The sorted rows are cut into P s nearly equal stretches; rank r has the stretches r, r + P, r + 2 P, ...
/// (With ten classes of equal size and P = 10, s = 2 gives every rank two classes, as in the paper.)
struct ByLabel : Partition {
  static constexpr base::About about{
      .kind = "by_label",
      .summary = "rows are sorted by class and assigned in stretches, so that each rank sees few classes",
      .cost = "",
      .source = "B. McMahan et al., Communication-Efficient Learning of Deep Networks from Decentralized Data, 2017"};

  std::int64_t stretches = 1;  ///< s

  void describe(base::Describer& d) override;
  bool by_class() const override { return true; }
  DataShards shards(const Owned& owned, int parts) const override;
};

}  // namespace simgrad::training

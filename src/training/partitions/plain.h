/// The partitions that look at nothing but the number of rows.
#pragma once

#include "training/partition.h"

namespace simgrad::training {

/// A step's global batch depends on the seed and the step alone: one worker or sixteen, it is the same training.
struct Iid : Partition {
  static constexpr base::About about{.kind = "iid",
                                     .summary = "a step's batch is drawn from all rows and split evenly over the ranks",
                                     .cost = "",
                                     .source = ""};

  bool shared() const override { return true; }
  DataShards shards(const Owned& owned, int parts) const override;
};

struct Contiguous : Partition {
  static constexpr base::About about{
      .kind = "contiguous",
      .summary = "rank r has the r-th stretch of the rows as they stand, and draws its share from it",
      .cost = "",
      .source = ""};

  bool shuffled() const override { return false; }
  DataShards shards(const Owned& owned, int parts) const override;
};

}  // namespace simgrad::training

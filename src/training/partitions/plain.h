/// The partitions that depend on the number of rows alone.
#pragma once

#include "training/partitions/partition.h"

namespace simgrad::training {

/// The shares of the ranks in a step's batch.
enum class BatchShares {
  equal,  ///< to within one row
  speed   ///< in proportion to the speeds of their hosts, by the method of largest remainders; each has a row at least
};

struct Plain : Partition {
  BatchShares shares = BatchShares::equal;

  void describe(base::Describer& d) override;
  bool by_speed() const override { return shares == BatchShares::speed; }
};

/// A step's global batch depends on the seed and the step alone, so any number of workers has the same training.
struct Iid : Plain {
  static constexpr base::About about{
      .kind = "iid",
      .summary = "a step's batch is drawn from all rows and split over the ranks, evenly or by speed",
      .cost = "",
      .source = ""};

  bool shared() const override { return true; }
  DataShards shards(const Owned& owned, int parts) const override;
};

struct Contiguous : Plain {
  static constexpr base::About about{
      .kind = "contiguous",
      .summary = "rank r has the r-th stretch of the rows in their order, and draws its share from it",
      .cost = "",
      .source = ""};

  bool shuffled() const override { return false; }
  DataShards shards(const Owned& owned, int parts) const override;
};

}  // namespace simgrad::training

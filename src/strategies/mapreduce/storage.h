/// Where MapReduce keeps its data between the steps of a round.
#pragma once

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::strategies {

class Storage : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// How long reading or writing so many bytes takes, while nothing else is done.
  virtual double seconds(double bytes) const = 0;
};

/// Resilient data sets stay where they are computed.
struct MemoryStorage : Storage {
  static constexpr base::About about{.kind = "memory",
                                     .summary = "rows, sums and parameters stay in memory from round to round (Spark)",
                                     .cost = "nothing",
                                     .source = "M. Zaharia et al., Resilient Distributed Datasets, 2012"};

  double seconds(double) const override { return 0.0; }
};

/// Every round begins with reading and ends with writing.
struct DiskStorage : Storage {
  static constexpr base::About about{
      .kind = "disk",
      .summary =
          "each round a worker reads its rows and writes its sums; a reducer writes what it receives, reads it "
          "again, and writes the new parameters (Hadoop)",
      .cost =
          "a worker: (8 bytes a feature and row + what it sends) / bandwidth a round; a reducer: (2 x what it "
          "receives + its parameters) / bandwidth; nothing else is done meanwhile",
      .source = "J. Dean, S. Ghemawat, MapReduce: Simplified Data Processing on Large Clusters, 2004"};

  double bandwidth_bytes_per_s = 200e6;

  void describe(base::Describer& d) override;
  double seconds(double bytes) const override { return bytes / bandwidth_bytes_per_s; }
};

/// memory, disk
const base::Registry<Storage>& storages();

}  // namespace simgrad::strategies

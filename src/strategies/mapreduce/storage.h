/// The place of MapReduce's data between the steps of a round.
#pragma once

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::strategies {

class IntermediateStorage : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// The duration of reading or writing so many bytes; nothing else is done meanwhile.
  virtual double seconds(double bytes) const = 0;
};

/// Resilient data sets: rows and sums stay in memory where they are computed.
struct MemoryStorage : IntermediateStorage {
  static constexpr base::About about{.kind = "memory",
                                     .summary = "rows, sums and parameters stay in memory from round to round (Spark)",
                                     .cost = "nothing",
                                     .source = "M. Zaharia et al., Resilient Distributed Datasets, 2012"};

  double seconds(double) const override { return 0.0; }
};

/// Disks: every round begins with reading and ends with writing.
struct DiskStorage : IntermediateStorage {
  static constexpr base::About about{
      .kind = "disk",
      .summary =
          "each round a worker reads its rows and writes its sums; a reducer writes the sums that it receives, reads "
          "them "
          "again, and writes the new parameters (Hadoop)",
      .cost =
          "a worker: (8 bytes a feature and row + the bytes it sends) / bandwidth a round; a reducer: (2 x the bytes "
          "it "
          "receives + its parameters) / bandwidth; nothing else is done meanwhile",
      .source = "J. Dean, S. Ghemawat, MapReduce: Simplified Data Processing on Large Clusters, 2004"};

  double bandwidth_bytes_per_s = 200e6;

  void describe(base::Describer& d) override;
  double seconds(double bytes) const override { return bytes / bandwidth_bytes_per_s; }
};

/// memory, disk
const base::Registry<IntermediateStorage>& storages();

}  // namespace simgrad::strategies

/// The place of MapReduce's data between the steps of a round.
#pragma once

#include <optional>

#include "base/describe.h"
#include "base/registry.h"
#include "training/program.h"

namespace simgrad::strategies {

/// A disk in each host, shared by the host's workers as they read and write. The training set's rows are there.
class IntermediateStorage : public base::Described {
 public:
  std::optional<double> bytes_per_sample;  ///< none: 8 a feature, as training.input has it
  double flops_per_sample = 0.0;

  /// Whether rows and sums stay in memory.
  virtual bool in_memory() const = 0;
  /// None: rows are in memory from the start.
  virtual std::optional<training::RowsOnDisk> disk() const = 0;

 protected:
  void describe_rows(base::Describer& d);
  training::RowsOnDisk disk_of(double bandwidth_bytes_per_s) const;
};

/// Resilient data sets: rows and sums stay in memory where they are computed. A worker reads its rows from disk when it
/// first needs them, and again once its host has crashed; so does a worker that takes rows over, these alone.
struct MemoryStorage : IntermediateStorage {
  static constexpr base::About about{
      .kind = "memory",
      .summary =
          "rows, sums and parameters stay in memory from round to round; a worker reads its rows from disk at "
          "first, and again after a crash of its host; a worker that takes over rows reads these (Spark)",
      .cost = "once a worker: (8 bytes a feature and row) / bandwidth; then nothing",
      .source = "M. Zaharia et al., Resilient Distributed Datasets, 2012"};

  std::optional<double> bandwidth_bytes_per_s = 200e6;  ///< none: reading takes no time

  void describe(base::Describer& d) override;
  bool in_memory() const override { return true; }
  std::optional<training::RowsOnDisk> disk() const override;
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
  bool in_memory() const override { return false; }
  std::optional<training::RowsOnDisk> disk() const override { return disk_of(bandwidth_bytes_per_s); }
};

/// memory, disk
const base::Registry<IntermediateStorage>& storages();

}  // namespace simgrad::strategies

/// Which rows a rank's gradient of a step is taken over: a function of (seed, step), never of who asked before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "training/partitions/partition.h"

namespace simgrad::training {

/// Rows of one rank in one step: a contiguous range, or the rows named one by one.
struct RowSet {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> indices;  ///< empty: the range
};

/// Deals the rows of every step to P ranks. Copying it is cheap, and any thread may ask.
///
/// Full batch: rank r has its whole shard; with iid the r-th of P stretches (the rows were shuffled when they were
/// loaded). Minibatches: epoch after epoch a new permutation, dealt out in order, so that an epoch sees every row once:
/// of all rows with iid, else of each shard by itself.
class Batches {
 public:
  struct Options {
    std::int64_t rows = 0;   ///< of the training set
    std::int64_t batch = 0;  ///< a step's rows over all ranks; at most `rows`
    std::shared_ptr<const Partition> partition = base::Slot(partitions(), "iid").shared();
    std::uint64_t seed = 1;
    std::shared_ptr<const data::Dataset> labelled = {};  ///< the training set, for partitions by class
    std::vector<double> speeds = {};  ///< of each rank's host, for shares by speed; empty: shares by the partition
  };
  explicit Batches(Options options);

  std::int64_t batch() const { return options_.batch; }
  /// How many rows part r of P has in a step. With even shards parts differ by at most one row. Else every rank has one
  /// (if the batch is that large), and the others go by the sizes of the shards. Shares by speed are those of the
  /// method of largest remainders, as long as all the ranks are there.
  std::int64_t count(int part, int parts) const;
  /// arrived: see below; by default all.
  RowSet rows(std::int64_t step, int part, int parts, std::optional<std::int64_t> arrived = {}) const;
  /// Whether rows come in during the training.
  bool flows_in() const { return options_.partition->inflow().has_value(); }
  /// How many rows there are so long after the beginning: all, unless they come in during the
  /// training; then the last window of them never does, so that some always come next.
  std::int64_t arrived(double elapsed_s) const;
  /// The rows that come next then. Only where rows come in.
  RowSet next(double elapsed_s) const;
  /// How many rows it draws them from: its shard; with iid, where nobody owns a row, an even share of all.
  std::int64_t rows_of(int part, int parts) const;
  bool full() const { return options_.batch == options_.rows; }

 private:
  struct Table;
  struct Dealt;
  const Dealt& dealt(int parts) const;
  bool by_speed(int parts) const { return std::cmp_equal(options_.speeds.size(), parts); }
  std::int64_t first_of_batch(int part, int parts) const;
  const DataShards& shards(int parts) const;
  RowSet latest_rows(std::int64_t step, int part, int parts, std::int64_t arrived) const;
  std::int64_t share(const DataShards& shards, int part, int parts) const;

  Options options_;
  std::shared_ptr<Table> table_;  ///< what is dealt by P, made when first asked for
};

}  // namespace simgrad::training

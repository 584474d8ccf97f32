/// The rows that a rank's gradient of a step is taken over: a function of (seed, step), never of earlier calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "training/partitions/partition.h"

namespace simgrad::training {

/// A part of a rank's share of a step: gradients of all parts are added up before the update.
struct MicroBatch {
  int part = 0;
  int parts = 1;

  bool last() const { return part + 1 == parts; }
  /// Where its rows begin among so many; and how many it has.
  std::int64_t first(std::int64_t rows) const;
  std::int64_t count(std::int64_t rows) const;
};

/// One rank's share of a step's batch: part `part` of `parts`.
struct Share {
  std::int64_t step = 0;
  int part = 0;
  int parts = 1;
  std::optional<std::int64_t> arrived = {};  ///< Batches::arrived where rows come in during the training; none: all
  MicroBatch micro = {};                     ///< the rows of it that are meant
};

/// Rows of one rank in one step: a contiguous range, or the rows named one by one.
struct RowSet {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> indices;  ///< empty: the range
};

/// Deals the rows of every step to P ranks. Copies are cheap, and any thread may call it.
///
/// Full batch: rank r has its whole shard; with iid the r-th of P stretches (the rows were shuffled when they were
/// loaded). Minibatches: a permutation an epoch, dealt in order, so that an epoch sees every row once. With iid it is a
/// permutation of all rows, else one of each shard.
class Batches {
 public:
  struct Options {
    std::int64_t rows = 0;   ///< the training set's
    std::int64_t batch = 0;  ///< a step's rows over all ranks; at most `rows`
    std::shared_ptr<const Partition> partition = base::Slot(partitions(), "iid").shared();
    std::uint64_t seed = 1;
    std::shared_ptr<const data::Dataset> labelled = {};  ///< the training set, for partitions by class
    std::vector<double> speeds = {};  ///< by rank, of its host, for shares by speed; empty: shares by the partition
    std::vector<std::int64_t> most_rows = {};  ///< by rank, of a share by speed; empty: any number
    std::int64_t rows_unit = 1;                ///< a share by speed is a multiple of it
  };
  explicit Batches(Options options);

  std::int64_t batch() const { return options_.batch; }
  /// Rows that part r of P has in a step. With even shards parts differ by at most one row. Else every rank has one
  /// row (if the batch is that large), and the other rows follow the sizes of the shards. Shares by speed follow the
  /// method of largest remainders, while no rank is lost.
  std::int64_t count(int part, int parts) const;
  RowSet rows(const Share& share) const;
  /// Whether rows come in during the training.
  bool flows_in() const { return options_.partition->inflow().has_value(); }
  /// The number of rows that have come in `elapsed_s` after the beginning: all, unless rows come in during the
  /// training. The last window of rows never comes in, so that there are always next rows.
  std::int64_t arrived(double elapsed_s) const;
  /// The rows that come in next. Only where rows come in.
  RowSet next(double elapsed_s) const;
  /// The size of the shard that part r draws its rows from. iid has none: an even share of all rows.
  std::int64_t rows_of(int part, int parts) const;
  bool full() const { return options_.batch == options_.rows; }

 private:
  struct Table;
  struct Dealt;
  const Dealt& dealt(int parts) const;
  bool by_speed(int parts) const { return std::cmp_equal(options_.speeds.size(), parts); }
  std::int64_t first_of_batch(int part, int parts) const;
  const DataShards& shards(int parts) const;
  RowSet latest_rows(const Share& share) const;
  RowSet rows_of_step(const Share& share) const;
  std::int64_t count_of_shard(const DataShards& shards, int part, int parts) const;

  Options options_;
  std::shared_ptr<Table> table_;  ///< the deals by P, each made when it is first needed
};

}  // namespace simgrad::training

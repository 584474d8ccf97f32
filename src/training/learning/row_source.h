/// The storage that ranks read their rows from, and the rows that they then hold in memory.
///
/// Source: M. Zaharia et al., "Resilient Distributed Datasets: A Fault-Tolerant Abstraction for In-Memory Cluster
/// Computing", NSDI 2012: rows in memory are read and derived when they are first needed, and again, these alone, once
/// the memory that held them is lost.
#pragma once

#include <cstdint>
#include <map>

#include "base/by_rank.h"

namespace simgrad::cluster {
class Storage;
}

namespace simgrad::training {

/// The rows in one rank's memory.
class CachedRows {
 public:
  /// The rows of a part that are not in memory.  part: the number of the part, where the training set is dealt in so
  /// many.  rows: of the part. Once the set is dealt in another number of parts the rank goes on with the rows that it
  /// has, and lacks those that its new parts have more.
  std::int64_t missing(int part, int parts, std::int64_t rows);
  /// The part is in memory now.
  void add(int part, std::int64_t rows);

 private:
  int parts_ = 0;
  std::map<int, std::int64_t> held_;  ///< rows by part
  std::int64_t of_other_parts_ = 0;   ///< rows of the deal before that no new part has taken over
};

/// Rows of a batch, which belong to a part of the training set.
struct RowsToRead {
  int part = 0, parts = 1;    ///< the part that they are drawn from
  std::int64_t count = 0;     ///< rows of the batch
  double share_of_row = 1.0;  ///< of the bytes of each
  bool is_split = false;      ///< any worker may come to that part
};

class RowSource {
 public:
  struct Terms {
    bool cached = false;        ///< rows stay in memory once they are read
    std::int64_t prefetch = 0;  ///< batches that are read ahead; 0 where rows are cached
    double bytes_a_row = 0.0;   ///< on the storage
    double flops_a_row = 0.0;   ///< of parsing and scaling a row that has been read
  };
  /// storage: must outlive it.
  RowSource(const cluster::Storage& storage, const Terms& terms, int ranks)
      : storage_(storage), terms_(terms), cached_(ranks) {}

  const cluster::Storage& storage() const { return storage_; }
  const Terms& terms() const { return terms_; }
  /// Only where rows are cached.
  CachedRows& cached_by(int rank) { return cached_.at(rank); }
  /// The rank has lost its memory, and its rows with it.
  void lose(int rank) { cached_.at(rank) = {}; }

 private:
  const cluster::Storage& storage_;
  Terms terms_;
  base::ByRank<CachedRows> cached_;
};

}  // namespace simgrad::training

/// A worker's cache of keys under a staleness bound: the rows that its last batches have pulled.
///
/// A key that was fetched at most `bound` of the worker's own steps ago is not asked for again. Its row is the one that
/// came then, with the worker's own updates since then where the optimizer is sgd (read-my-writes). Adagrad's updates
/// need the sums of squares, which only the servers have, so cached rows go without the worker's own updates, unlike in
/// both sources. Source: Q. Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter
/// Server", NIPS 2013 (a cache under a bound of clocks); X. Miao et al., "HET: Scaling out Huge Embedding Model
/// Training via Cache-enabled Distributed Framework", VLDB 2022 (for embeddings, key by key).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "training/sparse/sparse_batch.h"

namespace simgrad::strategies {

/// The origin of a batch's rows.
struct Pull {
  std::shared_ptr<const training::SparseBatch> batch;
  std::vector<training::TableRows> wanted;  ///< by server: the rows to ask for

  static constexpr int asked = -1;
  /// The origin of one key's row.
  struct Row {
    int table = asked;        ///< which of `tables` has it
    std::uint32_t place = 0;  ///< its row in that table, or among those asked of its server
  };
  std::vector<Row> rows;               ///< in the order of the batch's keys; empty: all are asked for
  std::vector<values::Tensor> tables;  ///< earlier batches'
  std::int64_t cached = 0;
  std::vector<std::int64_t> fetched_at;  ///< by server: the step at which the oldest of its rows in use was fetched
};

class KeyCache {
 public:
  /// bound: in steps; 0: nothing is kept.
  explicit KeyCache(std::int64_t bound) : bound_(bound) {}

  Pull plan(std::shared_ptr<const training::SparseBatch> batch) const;
  /// table: the result of the pull, the batch's rows first.
  void keep(const Pull& pull, const values::Tensor& table);
  /// Replaces the table that was kept last.
  void change_last(values::Tensor table) { kept_.back().table = std::move(table); }

 private:
  struct Entry {
    std::int64_t fetched_at_step = 0;
    std::int64_t batch_step = 0;  ///< the last batch that had it
    std::uint32_t place = 0;      ///< in its table
  };
  struct Kept {
    std::shared_ptr<const training::SparseBatch> batch;
    values::Tensor table;
  };

  const Entry* valid(std::uint32_t key, std::int64_t step) const;
  void forget(const Kept& kept);

  std::int64_t bound_;
  std::unordered_map<std::uint32_t, Entry> entries_;
  std::deque<Kept> kept_;  ///< the last batches, in their order
};

}  // namespace simgrad::strategies

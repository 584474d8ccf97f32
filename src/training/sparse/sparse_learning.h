/// A sparse model dealt to servers, as all ranks of a training share it.
///
/// A server's state is its keys' rows, then its share of the dense parameters. Where the dense parameters are
/// replicated on the workers instead, with the rows of hot keys behind them, the first server's state ends with that
/// replica.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/sparse_model.h"
#include "training/learning/learning.h"
#include "training/sparse/distinct_keys.h"
#include "training/sparse/key_shards.h"
#include "training/sparse/sparse_batch.h"

namespace simgrad::training {

/// How a sparse model is dealt to servers.
struct SparseOptions {
  int servers = 1;
  Sharding sharding = Sharding::range;
  bool dense_replicated = false;  ///< on the workers
  std::int64_t hot_keys = 0;      ///< replicated with them: the keys with most entries in the training rows
};

class SparseLearning {
 public:
  SparseLearning(const Learning& learning, const SparseOptions& options);

  std::int64_t width() const { return width_; }
  const KeyShards& shards() const { return shards_; }
  /// The number of the server's dense parameters, and their beginning among all.
  std::int64_t dense_of(int server) const { return dense_first(server + 1) - dense_first(server); }
  std::int64_t dense_first(int server) const;
  /// The count of numbers that every worker has a replica of.
  std::int64_t replicated() const { return options_.dense_replicated ? dense_ + hot() * width_ : 0; }
  std::int64_t hot() const { return static_cast<std::int64_t>(hot_.size()); }

  /// The rows of some shares of a step, with their keys numbered.  Real time: that of finding the distinct keys, in the
  /// caller.
  std::shared_ptr<const SparseBatch> batch(std::span<const Share> shares);
  double flops(const SparseBatch& batch) const;
  /// This part of the gradient of the mean loss over the step's batch.
  /// at: the batch's keys' rows, then all dense parameters.  replica: (replicated()), or none.
  /// Returns for each server its rows' gradients and its dense ones', then the replica's.
  values::Tensor gradient(const std::shared_ptr<const SparseBatch>& batch, const values::Tensor& at,
                          const values::Tensor& replica) const;
  /// The beginning of a server's part in such a gradient; for server = `servers`: of the replica's part.
  std::int64_t gradient_first(const SparseBatch& batch, int server) const {
    return batch.firsts[static_cast<std::size_t>(server)] * width_ + dense_first(server);
  }

  /// Parts of w, or of an optimizer's vector: a server's, and the workers' replica. `whole` makes a vector again of the
  /// servers' parts, the first one's with the replica.
  values::Tensor part_of(const values::Tensor& whole, int server) const;
  values::Tensor replica_of(const values::Tensor& whole) const;
  values::Tensor whole(std::span<const values::Tensor> parts) const;

  /// The replica that all workers hold, from the first of them.
  State shared_replica;
  /// Keys that were needed, and those among them that a cache had.
  std::int64_t keys_needed = 0, keys_cached = 0;
  bool caches = false;  ///< whether workers have a cache

 private:
  void find_hot_keys();
  void number_by_server(SparseBatch& batch, const std::vector<std::uint32_t>& found);

  const Learning& learning_;
  std::shared_ptr<const models::SparseModel> model_;
  SparseOptions options_;
  std::int64_t width_, dense_;
  KeyShards shards_;
  std::vector<std::uint32_t> hot_;  ///< the hottest first
  DistinctKeys distinct_;
  std::optional<DistinctKeys> hot_numbers_;  ///< null without hot keys
  /// Scratch space, used by one batch after the other.
  struct {
    std::vector<KeyShards::Place> places;
    std::vector<std::uint32_t> renumbered;
  } scratch_;
};

}  // namespace simgrad::training

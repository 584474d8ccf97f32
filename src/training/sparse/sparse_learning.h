/// A sparse model dealt to servers: what the ranks of one training share of it.
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

class SparseLearning {
 public:
  struct Options {
    int servers = 1;
    Sharding sharding = Sharding::range;
    bool dense_replicated = false;  ///< on the workers
    std::int64_t hot_keys = 0;      ///< replicated with them: the keys with most entries in the training rows
  };
  SparseLearning(const Learning& learning, const Options& options);

  std::int64_t width() const { return width_; }
  const KeyShards& shards() const { return shards_; }
  /// How many dense parameters the server holds, and where they begin among all.
  std::int64_t dense_of(int server) const { return dense_first(server + 1) - dense_first(server); }
  std::int64_t dense_first(int server) const;
  /// How many numbers the workers hold replicas of.
  std::int64_t replicated() const { return options_.dense_replicated ? dense_ + hot() * width_ : 0; }
  std::int64_t hot() const { return static_cast<std::int64_t>(hot_.size()); }

  /// Of part `part` of P.  Real time: that of finding the distinct keys, in the caller.
  /// arrived: how many rows there are (Batches::arrived); by default all.
  std::shared_ptr<const SparseBatch> batch(std::int64_t step, int part, int parts,
                                           std::optional<std::int64_t> arrived = {});
  double flops(const SparseBatch& batch) const;
  /// The gradient of the mean loss over the step's batch, this part of it.
  /// at: the batch's keys' rows, then all dense parameters.  replica: (replicated()), or none.
  /// Returns for each server its rows' gradients and its dense ones', then the replica's.
  values::Tensor gradient(const std::shared_ptr<const SparseBatch>& batch, const values::Tensor& at,
                          const values::Tensor& replica) const;
  /// Where a server's part of such a gradient begins; of `servers`: the replica's.
  std::int64_t gradient_first(const SparseBatch& batch, int server) const {
    return batch.firsts[static_cast<std::size_t>(server)] * width_ + dense_first(server);
  }

  /// w's or a memory's part that a server holds, the replicas', and the whole again from what servers hold, the first's
  /// with the replica.
  values::Tensor part_of(const values::Tensor& whole, int server) const;
  values::Tensor replica_of(const values::Tensor& whole) const;
  values::Tensor whole(std::span<const values::Tensor> parts) const;

  /// The replica that all workers hold, as the first of them has it.
  State shared_replica;
  /// Keys that were needed, and of them those that a cache had.
  std::int64_t keys_needed = 0, keys_cached = 0;
  bool caches = false;  ///< whether there is one

 private:
  void find_hot_keys();
  void number_by_server(SparseBatch& batch, const std::vector<std::uint32_t>& found);

  const Learning& learning_;
  std::shared_ptr<const models::SparseModel> model_;
  Options options_;
  std::int64_t width_, dense_;
  KeyShards shards_;
  std::vector<std::uint32_t> hot_;  ///< the hottest first
  DistinctKeys distinct_;
  std::optional<DistinctKeys> hot_numbers_;  ///< null without hot keys
  /// Of one batch after the other.
  struct {
    std::vector<KeyShards::Place> places;
    std::vector<std::uint32_t> renumbered;
  } scratch_;
};

}  // namespace simgrad::training

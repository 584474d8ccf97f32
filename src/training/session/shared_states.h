/// Parameters that the ranks of a training share or change in place, instead of reporting a state of their own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "training/session/generation.h"
#include "training/sparse/sparse_learning.h"
#include "training/sparse/sparse_table.h"
#include "training/sparse/store.h"

namespace simgrad::training {

class SharedStates {
 public:
  /// The one state of workers that share their memory; in a generation it begins as the first member's.
  State& memory(const Generation& generation) {
    if (!memory_) memory_ = generation.start_state(generation.members()->front());
    return *memory_;
  }
  /// The shared state as a table of a sparse model.
  SharedTable& table(const Generation& generation, const Learning& learning, const Optimizer& optimizer) {
    if (table_) return *table_;
    State start = generation.start_state(generation.members()->front());
    const SparseLearning& model = sparse(learning, {});
    const std::int64_t step = start.step;
    table_.emplace(SharedTable{std::make_shared<SparseTable>(learning.dispatcher(), optimizer, model.width(),
                                                             model.dense_of(0), std::move(start)),
                               step});
    return *table_;
  }
  /// A worker's replica, where servers hold the state that is trained.
  void show_replica(int worker, values::Tensor w) { replicas_[worker] = std::move(w); }
  void lose_replica(int worker) { replicas_.erase(worker); }
  void drop_replicas() { replicas_.clear(); }
  std::vector<values::Tensor> shown_replicas() const {
    std::vector<values::Tensor> all;
    for (const auto& [worker, w] : replicas_) all.push_back(w);
    return all;
  }
  void begin_generation() {
    memory_.reset();
    table_.reset();
    replicas_.clear();
  }

  /// Facts that the ranks of a sparse training share; made for the first to ask.
  SparseLearning& sparse(const Learning& learning, const SparseOptions& options) {
    if (!sparse_) sparse_.emplace(learning, options);
    return *sparse_;
  }
  /// Null before the first call of the above.
  const SparseLearning* sparse() const { return sparse_ ? &*sparse_ : nullptr; }

  /// A rank's parameters that are changed in place.
  void keep_store(int rank, std::shared_ptr<const Store> store) { stores_[rank] = std::move(store); }
  void forget_stores() { stores_.clear(); }
  bool in_stores() const { return !stores_.empty(); }
  values::Tensor in_store(int rank) const { return stores_.at(rank)->state().w; }

 private:
  std::optional<State> memory_;
  std::optional<SharedTable> table_;
  std::map<int, values::Tensor> replicas_;  ///< by worker
  std::optional<SparseLearning> sparse_;
  std::map<int, std::shared_ptr<const Store>> stores_;  ///< by rank
};

}  // namespace simgrad::training

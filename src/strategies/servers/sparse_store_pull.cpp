/// The receiving half of a worker's sparse store: the answers of all servers, together.
#include <algorithm>
#include <numeric>

#include "strategies/notes.h"
#include "strategies/servers/sparse_store.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
using training::SparseBatch;

Tensor SparseStore::pull() {
  std::vector<Tensor> answers;
  std::vector<std::int64_t> answered;
  for (std::size_t j = 0; j < answers_.size(); ++j) {
    const Packet packet = answers_[j].wait();
    answers.push_back(as_received(worker_.comm(), packet.tensor, options_.values));
    answered.push_back(packet.note<Version>().step);
  }
  present_ = std::move(next_);
  note_versions(answered);
  Tensor table = together(answers);
  cache_.keep(present_, table);
  present_.tables.clear();
  if (keeps_own_updates_) kept_ = table;
  return table;
}

/// A batch is as old as the oldest of its rows.
void SparseStore::note_versions(const std::vector<std::int64_t>& answered) {
  answered_.push_back(answered);
  if (static_cast<std::int64_t>(answered_.size()) > options_.cache_bound + 1) answered_.pop_front();
  for (std::size_t j = 0; j < versions_.size(); ++j) {
    const std::int64_t age = present_.batch->step - present_.fetched_at[j];
    versions_[j] = answered_[answered_.size() - 1 - static_cast<std::size_t>(age)][j];
    // Its own updates since are not missing.
    if (keeps_own_updates_ && options_.stale()) versions_[j] += age;
  }
}

/// The batch's rows in its order, each from an answer or from the cache, then the dense parameters of all servers.
Tensor SparseStore::together(const std::vector<Tensor>& answers) const {
  if (answers.size() == 1 && present_.rows.empty()) return answers.front();
  std::vector<Tensor> inputs = answers;
  inputs.insert(inputs.end(), present_.tables.begin(), present_.tables.end());
  const SparseBatch& batch = *present_.batch;
  const std::int64_t width = learning_.width(), rows = batch.distinct();
  std::vector<std::int64_t> dense;  // dense numbers of each server
  for (int j = 0; j < worker_.servers(); ++j) dense.push_back(learning_.dense_of(j));
  const std::int64_t size = rows * width + std::accumulate(dense.begin(), dense.end(), std::int64_t{0});
  const values::Operation operation{.name = "together", .seconds = 1e-9 * static_cast<double>(size), .numbered = false};
  return worker_.learning().dispatcher().dispatch(
      operation, size, inputs,
      [batch = present_.batch, from = present_.rows, dense, width](std::span<const std::span<const double>> in,
                                                                   std::span<double> out) {
        const std::size_t servers = dense.size();
        double* next = out.data();
        for (std::size_t j = 0; j < servers; ++j) {
          const auto first = static_cast<std::size_t>(batch->firsts[j]),
                     last = static_cast<std::size_t>(batch->firsts[j + 1]);
          if (from.empty()) next = std::copy_n(in[j].begin(), static_cast<std::int64_t>(last - first) * width, next);
          for (std::size_t i = first; i < last && !from.empty(); ++i) {
            const std::size_t source =
                from[i].table == Pull::asked ? j : servers + static_cast<std::size_t>(from[i].table);
            next = std::copy_n(in[source].begin() + from[i].place * width, width, next);
          }
        }
        for (std::size_t j = 0; j < servers; ++j) next = std::copy_n(in[j].end() - dense[j], dense[j], next);
      });
}

}  // namespace simgrad::strategies

#include "strategies/servers/sparse_store.h"

#include <algorithm>

#include "strategies/notes.h"
#include "strategies/servers/sparse_service.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
using training::key_bytes;
using training::SparseBatch;
using training::SparseLearning;

Tensor as_sent(const cluster::Communicator& comm, const Tensor& x, values::Format format) {
  if (format == values::Format::float64) return x;
  comm.charge_reduction(static_cast<double>(x.size()), record::Work::update);
  return values::rounded(x, format);
}

Tensor as_received(const cluster::Communicator& comm, const Tensor& x, values::Format format) {
  if (format == values::Format::float64) return x;
  comm.charge_reduction(static_cast<double>(x.size()), record::Work::update);
  return values::decoded(x);
}

SparseStore::SparseStore(Worker& worker, const SparseParameterServer& options)
    : worker_(worker),
      options_(options),
      learning_(worker.sparse(options.learning_options())),
      cache_(options.cache_bound),
      versions_(static_cast<std::size_t>(worker.servers()), 0),
      keeps_own_updates_(options.cache_bound > 0 && worker.optimizer().row_update() &&
                         !worker.optimizer().row_update()->epsilon) {
  learning_.caches = options.cache_bound > 0;
}

void SparseStore::plan_next() {
  next_ = cache_.plan(worker_.sparse_batch(learning_));
  learning_.keys_needed += next_.batch->distinct();
  learning_.keys_cached += next_.cached;
  answers_.clear();
  for (int j = 0; j < worker_.servers(); ++j) answers_.push_back(worker_.comm().start_receive(worker_.server() + j));
}

void SparseStore::request() {
  plan_next();
  send({});
  wait();
}

void SparseStore::push(const Tensor& g) {
  if (keeps_own_updates_) update_kept(g);
  // Workers whose updates are applied together know the step; else nobody knows whose gradient will be the last.
  if (options_.stale() || !worker_.ends_after(present_.batch->step + 1)) {
    plan_next();
  } else {
    answers_.clear();
    next_ = {};
    next_.wanted.assign(versions_.size(), std::make_shared<const std::vector<std::uint32_t>>());
  }
  send(g);
}

/// The rows that are kept change by this worker's part, as the servers' rows do when it has come.
void SparseStore::update_kept(const Tensor& g) {
  const std::int64_t width = learning_.width(), P = worker_.workers(), step = present_.batch->step;
  const double factor = options_.part == Part::mean ? static_cast<double>(P) : 1.0;
  // The servers' step, if all workers are equally fast.
  const double rate = factor * worker_.learning_rate(options_.stale() ? step * P : step);
  std::vector<std::int64_t> firsts;  // first of each server's rows in g
  for (int j = 0; j < worker_.servers(); ++j) firsts.push_back(learning_.gradient_first(*present_.batch, j));
  const values::Operation operation{
      .name = "update_kept", .seconds = 1e-9 * static_cast<double>(kept_.size()), .numbered = false};
  const Tensor inputs[] = {kept_, g};
  cache_.change_last(worker_.learning().dispatcher().dispatch(
      operation, kept_.size(), inputs,
      [batch = present_.batch, firsts, width, rate](std::span<const std::span<const double>> in,
                                                    std::span<double> out) {
        std::ranges::copy(in[0], out.begin());
        double* own = out.data();
        for (std::size_t j = 0; j < firsts.size(); ++j) {
          const double* part = in[1].data() + firsts[j];
          for (std::int64_t n = (batch->firsts[j + 1] - batch->firsts[j]) * width; n > 0; --n) *own++ -= rate * *part++;
        }
      }));
  worker_.charge(2.0 * static_cast<double>(present_.batch->distinct() * width));
}

void SparseStore::wait() {
  for (cluster::Pending& one : sends_) one.wait();
  sends_.clear();
}

/// g: the gradient of the present batch, or none.
void SparseStore::send(const Tensor& g) {
  for (int j = 0; j < worker_.servers(); ++j) {
    const auto server = static_cast<std::size_t>(j);
    Packet packet;
    KeyNote keys{.pushed = {}, .wanted = next_.wanted[server]};
    packet.extra_bytes = key_bytes * static_cast<std::int64_t>(keys.wanted->size());
    if (g) {
      const SparseBatch& batch = *present_.batch;
      const std::int64_t first = learning_.gradient_first(batch, j), last = learning_.gradient_first(batch, j + 1);
      packet.tensor = as_sent(worker_.comm(), values::slice(g, first, last - first), options_.values);
      keys.pushed = batch.rows[server];
      packet.extra_bytes += key_bytes * static_cast<std::int64_t>(keys.pushed->size());
      keys.version = versions_[server];
    }
    packet.attached = std::make_shared<const KeyNote>(std::move(keys));
    sends_.push_back(worker_.comm().start_send(worker_.server() + j, std::move(packet)));
  }
}

Tensor SparseStore::gradient(const Tensor& at, const Tensor& replica) {
  return worker_.sparse_gradient(learning_, present_.batch, at, replica);
}

Tensor SparseStore::replica_part(const Tensor& g) const {
  if (learning_.replicated() == 0) return {};
  return values::slice(g, learning_.gradient_first(*present_.batch, worker_.servers()), learning_.replicated());
}

}  // namespace simgrad::strategies

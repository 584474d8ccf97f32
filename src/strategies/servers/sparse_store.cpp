#include "strategies/servers/sparse_store.h"

#include <algorithm>
#include <numeric>

#include "collectives/ring.h"
#include "strategies/notes.h"
#include "strategies/servers/sparse_service.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
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
  plan_next();
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
    if (keeps_own_updates_ && options_.consistency == Consistency::asp) versions_[j] += age;
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

Tensor SparseStore::gradient(const Tensor& at, const Tensor& replica) {
  return worker_.sparse_gradient(learning_, present_.batch, at, replica);
}

Tensor SparseStore::replica_part(const Tensor& g) const {
  if (learning_.replicated() == 0) return {};
  return values::slice(g, learning_.gradient_first(*present_.batch, worker_.servers()), learning_.replicated());
}

State replica_state(const SparseLearning& learning, const State& start) {
  if (learning.replicated() == 0) return {};
  // At step 0 it is the whole model's; later the first server's, which ends with the replica.
  const auto part = [&](const Tensor& x) {
    return start.step == 0 ? learning.replica_of(x)
                           : values::slice(x, x.size() - learning.replicated(), learning.replicated());
  };
  State state{.w = part(start.w), .step = 0};
  for (const Tensor& each : start.optimizer) state.optimizer.push_back(part(each));
  return state;
}

DenseReplica::DenseReplica(Worker& worker, const SparseParameterServer& options)
    : worker_(worker), options_(options), learning_(worker.sparse(options.learning_options())) {
  if (learning_.replicated() == 0) return;
  const State start = worker.start();
  state_ = replica_state(learning_, start);
  state_.step = worker.rounds(start.step);
  std::vector<int> workers(static_cast<std::size_t>(worker.workers()));
  std::iota(workers.begin(), workers.end(), 0);
  among_.push_back(worker.comm().subgroup(workers));
}

Tensor DenseReplica::sum(const Tensor& part) const {
  const int P = worker_.workers();
  if (P == 1) return part;
  const cluster::Communicator& comm = among_.front();
  const Tensor own = as_sent(comm, part, options_.values);
  // Message by message: pushes to the servers are under way meanwhile.
  const Tensor all =
      collectives::Ring().schedule(collectives::Extent(own), P)->by_messages(comm, own, values::Combination::add);
  return as_received(comm, all, options_.values);
}

void DenseReplica::update(const Tensor& part) {
  if (!part) return;
  worker_.update_alone(state_, sum(part));
  if (worker_.rank() == 0) learning_.shared_replica = state_;
}

}  // namespace simgrad::strategies

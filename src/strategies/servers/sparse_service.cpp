#include "strategies/servers/sparse_service.h"

#include "strategies/notes.h"
#include "strategies/servers/dense_replica.h"
#include "strategies/servers/sparse_store.h"
#include "training/sparse/sparse_learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Inbox;
using cluster::Packet;
using training::SparseLearning;
using training::SparseTable;

namespace {

/// A table whose state ends with the workers' replica.
class TableAndReplica final : public training::Store {
 public:
  TableAndReplica(std::shared_ptr<const SparseTable> table, const SparseLearning& learning)
      : table_(std::move(table)), learning_(learning) {}

  State state() const override {
    State own = table_->state();
    const State& replica = learning_.shared_replica;
    own.w = values::concatenate(std::vector{own.w, replica.w});
    for (std::size_t m = 0; m < own.optimizer.size(); ++m)
      own.optimizer[m] = values::concatenate(std::vector{own.optimizer[m], replica.optimizer[m]});
    return own;
  }

 private:
  std::shared_ptr<const SparseTable> table_;
  const SparseLearning& learning_;
};

/// The server's rows and dense parameters at the start: from the whole model's, or as a checkpoint has them.
State own_state(const SparseLearning& learning, const Server& server, const State& start) {
  const int j = server.shard();
  const auto part = [&](const Tensor& x) {
    if (start.step == 0) return learning.part_of(x, j);
    return j == 0 && learning.replicated() > 0 ? values::slice(x, 0, x.size() - learning.replicated()) : x;
  };
  State own{.w = part(start.w), .step = start.step, .optimizer_updates = start.optimizer_updates};
  for (const Tensor& each : start.optimizer) own.optimizer.push_back(part(each));
  return own;
}

}  // namespace

SparseService::SparseService(const SparseParameterServer& options, const Server& server, Inbox::OnLoss losses)
    : options_(options),
      server_(server),
      learning_(server.sparse(options.learning_options())),
      pushes_(server.comm(), 0, server.workers(), losses),
      under_way_(static_cast<std::size_t>(server.workers())),
      wanted_(static_cast<std::size_t>(server.workers())) {
  const State start = server.start();
  step_ = start.step;
  table_ = std::make_shared<SparseTable>(server.learning().dispatcher(), server.optimizer(), learning_.width(),
                                         learning_.dense_of(server.shard()), own_state(learning_, server, start));
  store_ = table_;
  if (server.shard() > 0 || learning_.replicated() == 0) return;
  learning_.shared_replica = replica_state(learning_, start);
  store_ = std::make_shared<TableAndReplica>(table_, learning_);
}

bool SparseService::continues() {
  if (server_.continues(store_, step_)) return true;
  while (server_.keeps_going())  // the training ends it
    if (const auto arrival = received(); !arrival.lost) answer(arrival.source);
  return false;
}

Inbox::Arrival SparseService::received() {
  auto arrival = pushes_.next();
  if (!arrival.lost) wanted_[static_cast<std::size_t>(arrival.source)] = arrival.packet.note<KeyNote>().wanted;
  return arrival;
}

SparsePush SparseService::next() {
  for (;;) {
    auto [worker, packet, lost] = received();
    if (packet.tensor) return {worker, std::move(packet.tensor), packet.attached.shared<KeyNote>()};
    if (lost) {
      if (listener_) listener_->on_lost(worker);
      continue;
    }
    if (listener_) listener_->on_rejoin(worker);
    answer(worker);
  }
}

void SparseService::answer(int worker) {
  const auto place = static_cast<std::size_t>(worker);
  cluster::Pending& last = under_way_[place];
  if (last.under_way()) last.wait_unless_lost();
  const Tensor rows = as_sent(server_.comm(), table_->read(wanted_[place]), options_.values);
  last = server_.comm().start_send_unless_lost(worker, Packet(rows, Version{step_}));
}

void SparseService::apply(const std::vector<SparsePush>& pushes, double factor) {
  std::vector<SparseTable::Part> parts;
  double numbers = 0.0;
  for (const SparsePush& push : pushes) {
    parts.push_back({push.keys->pushed, as_received(server_.comm(), push.g, options_.values)});
    numbers += static_cast<double>(push.g.size());
  }
  if (pushes.size() > 1) server_.charge(numbers);
  const std::int64_t changed = table_->update(std::move(parts), server_.learning_rate(step_), factor);
  server_.charge(server_.optimizer().flops() * static_cast<double>(changed), record::Work::update);
  ++step_;
}

}  // namespace simgrad::strategies

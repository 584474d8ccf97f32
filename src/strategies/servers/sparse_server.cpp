/// Servers of sparse parameters: rows are read and updated in place.
#include <algorithm>
#include <deque>
#include <vector>

#include "strategies/servers/clocks.h"
#include "strategies/servers/sparse_store.h"
#include "training/sparse/sparse_table.h"

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
    for (std::size_t m = 0; m < own.memory.size(); ++m)
      own.memory[m] = values::concatenate(std::vector{own.memory[m], replica.memory[m]});
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
  State own{.w = part(start.w), .memory = {}, .step = start.step};
  for (const Tensor& each : start.memory) own.memory.push_back(part(each));
  return own;
}

/// A server at work.
class SparseService {
 public:
  SparseService(const SparseParameterServer& options, const Server& server, Inbox::Losses losses)
      : options_(options),
        server_(server),
        learning_(server.training().sparse(options.learning_options())),
        pushes(server.comm(), 0, server.workers(), losses),
        under_way_(static_cast<std::size_t>(server.workers())) {
    const State start = server.start();
    step = start.step;
    const training::Training& training = server.training();
    table_ = std::make_shared<SparseTable>(training.learning().dispatcher(), *training.setup().options.optimizer,
                                           learning_.width(), learning_.dense_of(server.shard()),
                                           own_state(learning_, server, start));
    store_ = table_;
    if (server.shard() > 0 || learning_.replicated() == 0) return;
    learning_.shared_replica = replica_state(learning_, start);
    store_ = std::make_shared<TableAndReplica>(table_, learning_);
  }

  bool continues() const { return server_.continues(store_, step); }

  /// The next push, or whoever is lost. A request alone, as at the start, is answered.
  /// asks(worker): called before it is; returns the version of the answer.
  template <class Asks>
  Inbox::Arrival next(const Asks& asks) {
    for (;;) {
      Inbox::Arrival push = pushes.next();
      if (push.lost || push.packet.tensor) return push;
      answer(push.source, push.packet, asks(push.source));
    }
  }

  /// In place, servers may be through one after the other: whoever is goes on answering.
  void answer_the_rest() {
    while (server_.training().keeps_going())  // the training ends it
      if (const auto push = pushes.next(); !push.lost) answer(push.source, push.packet, step);
  }

  /// With the rows that it asked for.  version: what staleness is counted from.
  void answer(int worker, const Packet& asked, std::int64_t version) {
    cluster::Pending& last = under_way_[static_cast<std::size_t>(worker)];
    if (last.under_way()) last.wait_unless_lost();
    const Tensor rows = as_sent(server_.comm(), table_->read(asked.wanted), options_.values);
    last = server_.comm().start_send_unless_lost(worker, Packet(rows, version));
  }

  /// One update by these parts.  Virtual time: to decode what is rounded, the additions of several, and the optimizer's
  /// flops.
  void apply(const std::vector<const Packet*>& pushed, double factor) {
    std::vector<SparseTable::Part> parts;
    double numbers = 0.0;
    for (const Packet* each : pushed) {
      parts.push_back({each->keys, as_received(server_.comm(), each->tensor, options_.values)});
      numbers += static_cast<double>(each->tensor.size());
    }
    if (pushed.size() > 1) server_.comm().charge_reduction(numbers);
    const std::int64_t changed = table_->update(std::move(parts), server_.learning_rate(step), factor);
    server_.comm().charge_reduction(
        server_.training().setup().options.optimizer->flops() * static_cast<double>(changed), record::Work::update);
    ++step;
  }

  std::int64_t step = 0;

 private:
  const SparseParameterServer& options_;
  const Server& server_;
  SparseLearning& learning_;

 public:
  Inbox pushes;

 private:
  std::deque<cluster::Pending> under_way_;  ///< by worker
  std::shared_ptr<SparseTable> table_;
  std::shared_ptr<const training::Store> store_;
};

}  // namespace

/// Every step: all push, one update by the sum, all are answered.
void SparseParameterServer::serve_bsp(Server& server) const {
  const auto P = static_cast<std::size_t>(server.workers());
  SparseService service(*this, server, Inbox::Losses::untold);
  std::vector<Packet> pushed;
  while (service.continues()) {
    for (std::size_t worker = 0; worker < pushed.size(); ++worker)
      service.answer(static_cast<int>(worker), pushed[worker], service.step);
    pushed.assign(P, Packet());
    for (std::size_t came = 0; came < P; ++came) {
      auto [worker, packet, lost] = service.next([&](int) { return service.step; });
      pushed[static_cast<std::size_t>(worker)] = std::move(packet);
    }
    std::vector<const Packet*> in_order;
    for (const Packet& each : pushed) in_order.push_back(&each);
    if (consistency == Consistency::ssp && server.shard() == 0)
      for (const Packet& each : pushed) server.training().add_staleness(service.step - each.version);  // a cache's
    service.apply(in_order, 1.0);
  }
}

/// Every push is applied as it comes and answered; under ssp when the worker is not too far ahead of the slowest at
/// work.
void SparseParameterServer::serve_stale(Server& server) const {
  const bool bounded = consistency == Consistency::ssp;
  const double factor = part == Part::mean ? server.workers() : 1.0;
  SparseService service(*this, server, bounded ? Inbox::Losses::told : Inbox::Losses::untold);
  Clocks clocks(server.workers());
  std::vector<std::pair<int, Packet>> waiting;
  const auto version = [&](int worker) { return bounded ? clocks.slowest_other(worker) : service.step; };
  const auto asks = [&](int worker) {
    clocks.come_back(worker);
    return version(worker);
  };
  const auto answer = [&] {
    std::erase_if(waiting, [&](const auto& one) {
      if (bounded && clocks.lead(one.first) > bound()) return false;
      service.answer(one.first, one.second, version(one.first));
      return true;
    });
  };
  while (service.continues()) {
    auto push = service.next(asks);
    for (; push.lost; push = service.next(asks)) {
      clocks.leave(push.source);
      std::erase_if(waiting, [&](const auto& one) { return one.first == push.source; });
      answer();
    }
    const std::int64_t now = bounded ? clocks.clock(push.source) : service.step;
    const std::int64_t staleness = std::max<std::int64_t>(0, now - push.packet.version);
    service.apply({&push.packet}, factor);
    server.count(push.source, staleness);
    clocks.tick(push.source);
    waiting.emplace_back(push.source, std::move(push.packet));
    answer();
  }
  service.answer_the_rest();
}

}  // namespace simgrad::strategies

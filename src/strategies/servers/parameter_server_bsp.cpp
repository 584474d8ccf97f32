/// Bulk synchronous servers: an update waits for the gradients of its step, all of them or the first ones.
#include <algorithm>
#include <map>
#include <numeric>

#include "collectives/flat.h"
#include "strategies/servers/parameter_server.h"
#include "strategies/servers/parameter_store.h"

namespace simgrad::strategies {

using cluster::Inbox;
using cluster::Packet;

/// Every step: all pull, all push, one update by the sum.
void ParameterServer::serve_bsp(Server& server) const {
  const int P = server.workers();
  std::vector<int> mine(static_cast<std::size_t>(P) + 1);
  std::iota(mine.begin(), mine.end() - 1, 0);
  mine.back() = server.comm().rank();
  const cluster::Communicator group = server.comm().subgroup(mine);
  const training::Encoder gradients(*compression, server);
  training::Encoder parameters(*parameter_compression, server);
  const std::int64_t first = first_parameter(server.shards(), server.shard());
  State state = server.start();
  while (server.continues(state)) {
    collectives::FlatReduce pushes(group, P);
    collectives::flat_broadcast(group, P, Packet(parameters.once(group, state.w), state.step));
    const Tensor sum = values::decoded(pushes.sum(gradients.add_flops(state.w.size(), first)));
    gradients.charge_decoding(group, sum.size(), P, first);
    const Tensor g = gradients.compressor().concluded(sum);
    server.update(state, part == Part::mean ? P * g : g);
    if (consistency == Consistency::ssp && server.shard() == 0)
      for (int worker = 0; worker < P; ++worker) server.training().add_staleness(0);
  }
}

namespace {

/// Gradients of one step, from some of the workers.
class Came {
 public:
  void add(int worker, const Tensor& g, const Server& server) {
    parts_.emplace(worker, g);
    rows_ += server.rows(worker);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(parts_.size()); }

  /// One update by the mean gradient over the rows that came, added in the order of the workers; counts them.
  /// Virtual time: the additions and the optimizer's flops.
  void apply(Service& service) const {
    const Server& server = service.server;
    std::vector<Tensor> terms;
    for (const auto& [worker, g] : parts_) terms.push_back(g);
    const std::int64_t batch = server.training().learning().batches().batch();
    const Tensor sum = service.sum(std::move(terms));
    const double weight = static_cast<double>(batch) / static_cast<double>(std::max<std::int64_t>(1, rows_));
    server.update(service.state, rows_ == batch ? sum : weight * sum);
    for (const auto& [worker, g] : parts_) server.count(worker);
  }

 private:
  std::multimap<int, Tensor> parts_;
  std::int64_t rows_ = 0;
};

}  // namespace

/// Backup workers. The first P - b of a step's gradients make its update; who comes later is answered with the newest
/// parameters, and its gradient dropped.
void ParameterServer::serve_first_of_all(Server& server) const {
  const std::int64_t enough = std::max<std::int64_t>(1, server.workers() - backup_workers);
  Service service(server, *compression, *parameter_compression);
  State& state = service.state;
  while (server.continues(state)) {
    Came came;
    std::vector<int> waiting;
    while (came.size() < enough) {
      auto [worker, push, lost] = service.pushes.next();
      if (push.version == state.step) {
        came.add(worker, service.decoded(push.tensor), server);
        waiting.push_back(worker);
      } else {
        service.answers.send(worker, state);  // too late
      }
    }
    came.apply(service);
    for (const int worker : waiting) service.answers.send(worker, state);
  }
}

/// K-batch-sync. Any K gradients computed at the present parameters make an update, which everybody is told.
void ParameterServer::serve_first_k(Server& server) const {
  Service service(server, *compression, *parameter_compression);
  State& state = service.state;
  while (server.continues(state)) {
    Came came;
    while (came.size() < *k_batch) {
      auto [worker, push, lost] = service.pushes.next();
      if (push.version == state.step) came.add(worker, service.decoded(push.tensor), server);
    }
    came.apply(service);
    service.answers.send_all(state);
  }
}

/// Gradient after gradient at the parameters it has; the one under way is given up when newer ones come.
void ParameterServer::work_and_restart(Worker& worker) const {
  training::Encoder gradients(*compression, worker);
  const training::Encoder parameters(*parameter_compression, worker);
  Inbox news(worker.comm(), worker.server(), worker.servers());
  std::vector<Tensor> parts(static_cast<std::size_t>(worker.servers()));
  std::vector<std::int64_t> versions(parts.size(), -1);
  for (;;) {
    do {  // until all shards are of one version
      auto [server, packet, lost] = news.next();
      const auto shard = static_cast<std::size_t>(server - worker.server());
      parts[shard] = parameters.decoded(worker.comm(), packet.tensor);
      versions[shard] = packet.version;
    } while (std::ranges::adjacent_find(versions, std::ranges::not_equal_to{}) != versions.end());
    const Tensor w = worker.shards().whole(parts);
    while (const auto g = worker.gradient_unless(news, w)) push_shards(worker, gradients, *g, versions);
  }
}

}  // namespace simgrad::strategies

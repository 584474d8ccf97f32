/// Bulk synchronous servers: an update waits for the gradients of its step, all of them or the first ones.
#include <algorithm>
#include <map>
#include <numeric>

#include "collectives/flat.h"
#include "strategies/notes.h"
#include "strategies/servers/parameter_server.h"
#include "strategies/servers/parameter_store.h"
#include "strategies/servers/push_service.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Inbox;
using cluster::Packet;

/// Every step: all pull, all push, one update by the sum.
void ParameterServer::serve_bsp(Server& server) const {
  const int P = server.workers();
  std::vector<int> mine(static_cast<std::size_t>(P) + 1);
  std::iota(mine.begin(), mine.end() - 1, 0);
  mine.back() = server.rank();
  const cluster::Communicator group = server.comm().subgroup(mine);
  const training::Encoder gradients(*compression, server);
  training::Encoder parameters(*parameter_compression, server);
  const std::int64_t first = server.shards().first(server.shard());
  State state = server.start();
  while (server.continues(state)) {
    collectives::FlatReduce pushes(group, P);
    collectives::flat_broadcast(group, P, Packet(parameters.once(group, state.w), Version{state.step}));
    const Tensor sum = reduce->adds() ? values::decoded(pushes.sum(gradients.add_flops(state.w.size(), first)))
                                      : reduced(server, reduce, pushes.terms(), rows_of_workers(server));
    gradients.charge_decoding(group, sum.size(), P, first);
    const Tensor g = gradients.compressor().concluded(sum);
    server.update(state, part == Part::mean ? P * g : g);
    if (consistency == Consistency::ssp)
      for (int worker = 0; worker < P; ++worker) server.count_staleness(worker, 0);
  }
}

namespace {

/// The gradients of one step that some of the workers have sent.
class ArrivedGradients {
 public:
  ArrivedGradients(PushService& service, const Reduce& reduce) : service_(service), reduce_(reduce) {}

  void add(const Push& push) {
    parts_.emplace(push.worker, service_.decoded(push));
    rows_ += service_.server().rows(push.worker);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(parts_.size()); }

  /// One update by their reduction, by default the mean gradient over their rows, added in the order of the workers;
  /// counts the rows.  Virtual time: that of the reduction and the optimizer's flops.
  void apply() const {
    const Server& server = service_.server();
    std::vector<Tensor> terms;
    std::vector<std::int64_t> rows;
    for (const auto& [worker, g] : parts_) {
      terms.push_back(g);
      rows.push_back(server.rows(worker));
    }
    if (!reduce_->adds()) {
      server.update(service_.state, reduced(server, reduce_, std::move(terms), rows));
    } else {
      const Tensor sum = service_.sum(std::move(terms));
      const double weight = static_cast<double>(server.batch()) / static_cast<double>(std::max<std::int64_t>(1, rows_));
      server.update(service_.state, rows_ == server.batch() ? sum : weight * sum);
    }
    for (const auto& [worker, g] : parts_) server.count(worker);
  }

 private:
  PushService& service_;
  const Reduce& reduce_;
  std::multimap<int, Tensor> parts_;
  std::int64_t rows_ = 0;
};

}  // namespace

/// Backup workers that finish: the first gradients of a step make an update. Later ones are dropped, and their senders
/// go on with the present step.
void ParameterServer::serve_first_of_all(Server& server) const {
  const std::int64_t enough = gradients_reduced(server.workers());
  PushService service(server, *compression, *parameter_compression, Inbox::OnLoss::silent, bucketing(server));
  while (service.continues()) {
    ArrivedGradients arrived(service, reduce);
    std::vector<int> in_time;
    while (arrived.size() < enough) {
      const Push push = service.next();
      if (push.version == service.state.step) {
        arrived.add(push);
        in_time.push_back(push.worker);
      } else {
        service.answer(push.worker);  // too late
      }
    }
    arrived.apply();
    for (const int worker : in_time) service.answer(worker);
  }
}

/// K-batch-sync, and backup workers that give up. The first so many gradients computed at the present parameters make
/// an update; then everybody is sent the new parameters.
void ParameterServer::serve_first(std::int64_t enough, Server& server) const {
  PushService service(server, *compression, *parameter_compression);
  while (service.continues()) {
    ArrivedGradients arrived(service, reduce);
    while (arrived.size() < enough)
      if (const Push push = service.next(); push.version == service.state.step) arrived.add(push);
    arrived.apply();
    service.answer_all();
  }
}

/// Computes gradient after gradient at the parameters that it has (of a backup worker: the step's one), and gives up
/// the one under way when newer ones come.
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
      versions[shard] = packet.note<Version>().step;
    } while (std::ranges::adjacent_find(versions, std::ranges::not_equal_to{}) != versions.end());
    const Tensor w = worker.shards().whole(parts);
    if (!cancels())
      while (const auto g = worker.gradient_unless(news, w)) push_shards(worker, gradients, *g, versions);
    else if (const auto g = worker.gradient_unless(news, w, versions.front()))
      push_shards(worker, gradients, *g, versions);
  }
}

}  // namespace simgrad::strategies

#include "strategies/servers/sparse_parameter_server.h"

#include <fmt/format.h>

#include "strategies/circumstances.h"
#include "strategies/servers/dense_replica.h"
#include "strategies/servers/sparse_store.h"
#include "training/sparse/sparse_table.h"

namespace simgrad::strategies {

using cluster::Recovery;

Traits SparseParameterServer::traits(int P) const {
  const int servers = static_cast<int>(shards);
  // A table that has changed is in a checkpoint or nowhere. Workers come and go where nobody waits for all.
  std::vector recoveries{Recovery::restart};
  if (stale() && dense == DenseOn::servers) recoveries.push_back(Recovery::keep_going);
  return {.pace = stale() ? Pace::server_updates : Pace::lockstep,
          .asynchronous = stale() && dense == DenseOn::servers,
          .gradients_an_update = stale() ? 1 : 0,
          .holder = Holder::servers,
          .servers = servers,
          .hosts = hosts_of_servers(placement, P, servers),
          .sharding = Sharding::keys,
          .many_to_many = servers > 1 || dense == DenseOn::allreduce,
          .pairs = 2 * shards * P,
          .taking_actors = shards * P,
          .recoveries = std::move(recoveries),
          .step_is = stale() ? training::step_of_gradients(1, P) : "",
          .passes = Traits::Passes::keys};
}

std::optional<Refusal> SparseParameterServer::refusal(const Circumstances& circumstances) const {
  if (!circumstances.model.sparse())
    return Refusal{"kind",
                   fmt::format("sparse_parameter_server trains sparse models, but {} has no keys; use sparse_logistic, "
                               "factorization_machine or wide_and_deep, or the strategy parameter_server",
                               circumstances.model_kind)};
  if (!circumstances.numbers)
    return Refusal{
        "kind",
        "which keys travel depends on the data, but training.numbers = false reads none; leave it out, or use "
        "parameter_server, which sends all"};
  if (circumstances.model.l2 > 0.0)
    return Refusal{
        "kind", fmt::format("l2 = {} shrinks every parameter at every step, but only the keys of a batch are touched; "
                            "set model.l2 = 0, or use parameter_server",
                            circumstances.model.l2)};
  if (const char* why = training::SparseTable::refusal(circumstances.optimizer))
    return Refusal{"kind", fmt::format("optimizer = \"{}\": {}", circumstances.optimizer_kind, why)};
  if (circumstances.clips)
    return Refusal{
        "kind",
        "training.clip_norm needs the norm of a whole gradient, but only the keys of a batch are touched, and "
        "by servers of their own; leave it out, or use parameter_server with one server"};
  if (shards > circumstances.keys)
    return Refusal{"servers", fmt::format("servers = {}, but {} has {} keys here; expected at most one server a key",
                                          shards, circumstances.model_kind, circumstances.keys)};
  if (hot_keys > circumstances.keys)
    return Refusal{"hot_keys", fmt::format("hot_keys = {}, but there are {} keys", hot_keys, circumstances.keys)};
  if (placement == Placement::colocated && shards > circumstances.workers)
    return Refusal{"servers",
                   fmt::format("servers = {} colocated with {} worker{}; expected at most one server a worker, or "
                               "placement = \"dedicated\"",
                               shards, circumstances.workers, circumstances.workers == 1 ? "" : "s")};
  return {};
}

training::SparseOptions SparseParameterServer::learning_options() const {
  return {.servers = static_cast<int>(shards),
          .sharding = dealt_by,
          .dense_replicated = dense == DenseOn::allreduce,
          .hot_keys = hot_keys};
}

void SparseParameterServer::operator()(Worker& worker) const {
  SparseStore store(worker, *this);
  DenseReplica replica(worker, *this);
  store.request();
  while (store.expects()) {  // or the training ends it, while it waits for an answer
    const Tensor at = store.pull();
    const Tensor g = store.gradient(at, replica.w());
    // Under bsp the step that servers report is also that of the replicas; else neither waits for the other.
    if (!stale()) replica.update(store.replica_part(g));
    const Tensor dense_part = stale() ? store.replica_part(g) : Tensor();
    store.push(g);  // with the request for the next batch
    replica.update(dense_part);
    store.wait();
  }
}

void SparseParameterServer::operator()(Server& server) const { stale() ? serve_stale(server) : serve_bsp(server); }

}  // namespace simgrad::strategies

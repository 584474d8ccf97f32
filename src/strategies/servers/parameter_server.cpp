#include "strategies/servers/parameter_server.h"

#include <fmt/format.h>

#include <numeric>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"
#include "strategies/circumstances.h"
#include "strategies/servers/parameter_store.h"
#include "training/worker.h"

namespace simgrad::strategies {

std::vector<int> hosts_of_servers(Placement placement, int P, int servers) {
  if (placement == Placement::dedicated) return {};
  std::vector<int> all(static_cast<std::size_t>(P + servers));
  std::iota(all.begin(), all.begin() + P, 0);
  std::iota(all.begin() + P, all.end(), 0);
  return all;
}

namespace {

/// Says where one server serves many hosts: with one for each host, every link carries as much.
/// Source: Y. Jiang et al., "A Unified Architecture for Accelerating Distributed DNN Training in Heterogeneous GPU/CPU
/// Clusters" (BytePS), OSDI 2020.
void note_single_server(Worker& worker, std::int64_t servers) {
  constexpr int many = 16;
  const int devices = worker.comm().world().cluster().options().devices_of_host();
  const int hosts = (worker.workers() + devices - 1) / devices;
  if (servers == 1 && hosts >= many && worker.rank() == 0)
    worker.note(
        fmt::format("one server exchanges the parameters with the workers of {} hosts over its one link; "
                    "servers = {} would give each host one, as deployments have it",
                    hosts, hosts));
}

}  // namespace

Traits ParameterServer::traits(int P) const {
  const bool lockstep = !stale() && backup_workers == 0 && !k_batch;
  const int servers = static_cast<int>(shards);
  const std::int64_t pairs = shards * P;
  // Where messages are taken in the order of their arrival, a server receives from every worker at all times; and a
  // worker from every server where new parameters interrupt it.
  const int receiving = lockstep ? 0 : (restarts() ? 2 : 1);
  const int streams = bucket_bytes ? 1 : 0;  // a worker's to all servers, and a server's to each worker
  return {.pace = lockstep ? Pace::lockstep : Pace::server_updates,
          .asynchronous = stale(),
          .gradients_an_update = k_batch.value_or(stale() ? 1 : 0),
          .holder = Holder::servers,
          .servers = servers,
          .hosts = hosts_of_servers(placement, P, servers),
          .sharding = dealt_by,
          .dealt_in_pieces = dealt_in_buckets(),
          .gradients_held = gradients_held(reduce, gradients_reduced(P)),
          .many_to_many = servers > 1,
          .pairs = 2 * pairs,
          .answering_actors = streams * (P + pairs),
          .taking_actors = (streams > 0 ? 1 : receiving) * pairs,
          .recoveries = stale() && !bucket_bytes ? training::every_recovery() : training::recoveries_by_generation(),
          .step_is = stale() || k_batch ? training::step_of_gradients(k_batch.value_or(1), P) : "",
          .passes = bucket_bytes ? Traits::Passes::units : Traits::Passes::whole};
}

std::optional<Refusal> ParameterServer::refusal(const Circumstances& circumstances) const {
  if (auto refusal = split_refusal(circumstances)) return refusal;
  if (shards > circumstances.parameters)
    return Refusal{"servers", fmt::format("servers = {}, but {} has {} parameter{} here; expected at most one server a "
                                          "parameter",
                                          shards, circumstances.model_kind, circumstances.parameters,
                                          circumstances.parameters == 1 ? "" : "s")};
  if (placement == Placement::colocated && shards > circumstances.workers)
    return Refusal{"servers",
                   fmt::format("servers = {} colocated with {} worker{}; expected at most one server a worker, or "
                               "placement = \"dedicated\"",
                               shards, circumstances.workers, circumstances.workers == 1 ? "" : "s")};
  if (backup_workers >= circumstances.workers)
    return Refusal{"backup_workers",
                   fmt::format("backup_workers = {}, but cluster.workers = {}, which leaves no gradient to "
                               "wait for; expected fewer backup workers than workers",
                               backup_workers, circumstances.workers)};
  if (bucket_bytes && !stale() && backup_workers == 0)
    if (auto refusal = bucket_updates_refusal(circumstances)) return refusal;
  const std::string whole = circumstances.needs_whole_gradient();
  if (shards > 1 && !whole.empty())
    return Refusal{"servers",
                   fmt::format("servers = {}, but under {} the update of one parameter depends on "
                               "others, which another server holds; set servers = 1, or take an optimizer that "
                               "works element by element, without clip_norm",
                               shards, whole)};
  if (auto refusal = reduce_refusal(reduce, gradients_reduced(circumstances.workers))) return refusal;
  return compression_refusal(compression, circumstances);
}

std::vector<std::string> ParameterServer::warnings(std::int64_t P, std::uint64_t /*seed*/) const {
  return reduce_warnings(reduce, gradients_reduced(P));
}

void ParameterServer::operator()(Worker& worker) const {
  note_single_server(worker, shards);
  if (restarts()) return work_and_restart(worker);
  if (bucket_bytes) return work_in_buckets(worker);
  ParameterStore store(worker, *compression, *parameter_compression);
  for (;;) {  // the training ends it, while it waits for an answer
    const Pulled at = store.pull();
    // A worker whose gradient came too late goes on with the present step's batch.
    const Tensor g = backup_workers > 0 ? worker.gradient(at.w, at.versions.front()) : worker.gradient(at.w);
    store.push(g, at);
  }
}

void ParameterServer::operator()(Server& server) const {
  if (consistency == Consistency::asp) return serve_asp(server);
  if (stale()) return serve_ssp(server);
  if (k_batch || cancels()) return serve_first(gradients_reduced(server.workers()), server);
  if (backup_workers > 0) return serve_first_of_all(server);
  if (bucket_bytes) return serve_bsp_in_buckets(server);
  serve_bsp(server);
}

}  // namespace simgrad::strategies

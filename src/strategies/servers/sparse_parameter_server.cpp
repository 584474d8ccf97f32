#include "strategies/servers/sparse_parameter_server.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "strategies/servers/server_choices.h"
#include "strategies/servers/sparse_store.h"
#include "training/sparse/sparse_table.h"

namespace simgrad::strategies {

using base::Bounds;
using base::Choice;
using cluster::Recovery;

namespace {

constexpr std::array key_shardings{
    Choice{"range", "contiguous stretches of keys, whose lengths differ by at most one"},
    Choice{"hash", "neighbours on different servers, in an order by a fixed hash, so that hot ones are scattered"}};
constexpr std::array dense_places{
    Choice{"servers", "dealt to the servers, pulled and pushed at every step"},
    Choice{"allreduce", "replicated on the workers, who all-reduce its gradient (ring) beside their pushes"}};
constexpr std::array formats{Choice{"float64", "8 bytes, as computed"}, Choice{"float32", "4 bytes, rounded"},
                             Choice{"float16", "2 bytes, rounded"}, Choice{"bfloat16", "2 bytes, rounded"}};

}  // namespace

void SparseParameterServer::describe(base::Describer& d) {
  d.choice("consistency", consistency, consistency_choices,
           "when the rows change; a staleness that is reported counts updates under asp, clocks of others under ssp, "
           "of the oldest "
           "row in use");
  d.integer("servers", shards, "number of servers, each of which holds the rows of some keys",
            Bounds::between(1, 30'000));
  d.choice("placement", placement, placement_choices, "where the servers are");
  d.choice("sharding", dealt_by, key_shardings, "which keys are whose, with more servers than one");
  d.integer("staleness_bound", staleness_bound,
            "ssp: how many clocks (gradients of its own) a worker may be ahead of the slowest; default 1, and 0 is bsp",
            Bounds::at_least(0));
  d.integer("cache_bound", cache_bound,
            "a key that a worker has fetched at most so many of its own steps ago is not asked for again; 0: no "
            "cache. sgd's own updates reach the rows that are kept, adagrad's do not",
            Bounds::between(0, 1000));
  d.choice("dense", dense, dense_places, "where the parameters are that are no key's");
  d.integer("hot_keys", hot_keys,
            "so many keys, those with most entries in the training rows, are replicated on the workers with the dense "
            "parameters",
            Bounds::between(0, 1e7));
  d.choice(
      "values", values, formats,
      "what a number weighs, and is rounded to, in pushes, answers and the allreduce; a flop a number at each end");
  d.choice("gradient", part, part_choices, "how a worker's part counts when it is applied alone (asp, ssp)");
  refuse_contradictions(d);
}

void SparseParameterServer::refuse_contradictions(base::Describer& d) const {
  if (part == Part::mean && consistency == Consistency::bsp)
    d.refuse("gradient",
             "gradient = \"mean\" says how a part counts alone, but bsp applies the sum of all parts; leave "
             "it out, or set consistency = \"asp\"");
  if (part == Part::mean && dense == DenseOn::allreduce)
    d.refuse("gradient",
             "gradient = \"mean\" says how a part counts alone, but dense = \"allreduce\" sums them; leave one "
             "of them out");
  if (staleness_bound && consistency != Consistency::ssp)
    d.refuse("staleness_bound",
             "staleness_bound bounds how far workers run ahead under consistency = \"ssp\"; set that, "
             "or leave staleness_bound out");
  if (dealt_by == training::Sharding::hash && shards == 1)
    d.refuse("sharding",
             "sharding = \"hash\" deals the keys to several servers, but servers = 1 holds all; leave sharding "
             "out, or take more servers");
  if (hot_keys > 0 && dense == DenseOn::servers)
    d.refuse("hot_keys",
             "hot_keys are replicated on workers that keep in step by an allreduce, but dense = \"servers\"; set "
             "dense = \"allreduce\", or leave hot_keys out");
}

std::optional<Strategy::Unfit> SparseParameterServer::unfit(const Fit& fit) const {
  const auto* model = dynamic_cast<const models::SparseModel*>(&fit.model);
  if (!model)
    return Unfit{"kind",
                 fmt::format("sparse_parameter_server trains sparse models, but {} has no keys; use sparse_logistic, "
                             "factorization_machine or wide_and_deep, or the strategy parameter_server",
                             fit.model_kind)};
  if (!fit.numbers)
    return Unfit{"kind",
                 "which keys travel depends on the data, but training.numbers = false reads none; leave it out, or use "
                 "parameter_server, which sends all"};
  if (model->l2 > 0.0)
    return Unfit{"kind",
                 fmt::format("l2 = {} shrinks every parameter at every step, but only the keys of a batch are touched; "
                             "set model.l2 = 0, or use parameter_server",
                             model->l2)};
  if (const char* why = training::SparseTable::unfit(fit.optimizer))
    return Unfit{"kind", fmt::format("optimizer = \"{}\": {}", fit.optimizer_kind, why)};
  if (shards > fit.keys)
    return Unfit{"servers", fmt::format("servers = {}, but {} has {} keys here; expected at most one server a key",
                                        shards, fit.model_kind, fit.keys)};
  if (hot_keys > fit.keys)
    return Unfit{"hot_keys", fmt::format("hot_keys = {}, but there are {} keys", hot_keys, fit.keys)};
  if (placement == Placement::colocated && shards > fit.workers)
    return Unfit{"servers",
                 fmt::format("servers = {} colocated with {} worker{}; expected at most one server a worker, or "
                             "placement = \"dedicated\"",
                             shards, fit.workers, fit.workers == 1 ? "" : "s")};
  return {};
}

std::vector<int> SparseParameterServer::hosts(int P) const {
  std::vector<int> all(static_cast<std::size_t>(P + servers()));
  std::iota(all.begin(), all.end(), 0);
  if (placement == Placement::colocated) std::iota(all.begin() + P, all.end(), 0);
  return all;
}

/// A table that has changed in place is the checkpoint's or nobody's. Workers come and go where nobody waits for all.
std::vector<Recovery> SparseParameterServer::recoveries() const {
  std::vector all{Recovery::restart};
  if (stale() && dense == DenseOn::servers) all.push_back(Recovery::keep_going);
  return all;
}

training::SparseLearning::Options SparseParameterServer::learning_options() const {
  return {.servers = servers(),
          .sharding = dealt_by,
          .dense_replicated = dense == DenseOn::allreduce,
          .hot_keys = hot_keys};
}

void SparseParameterServer::operator()(Worker& worker) const {
  SparseStore store(worker, *this);
  DenseReplica replica(worker, *this);
  store.request();
  for (;;) {  // the training ends it, while it waits for an answer
    const Tensor at = store.pull();
    const Tensor g = store.gradient(at, replica.w());
    // The step that servers report under bsp is that of the replicas, too; else nobody waits for the other.
    if (!stale()) replica.update(store.replica_part(g));
    const Tensor dense_part = stale() ? store.replica_part(g) : Tensor();
    store.push(g);  // with the request for the next batch
    replica.update(dense_part);
    store.wait();
  }
}

void SparseParameterServer::operator()(Server& server) const { stale() ? serve_stale(server) : serve_bsp(server); }

}  // namespace simgrad::strategies

/// The options of the sparse parameter server, and which of them contradict each other.
#include <array>

#include "strategies/servers/server_choices.h"
#include "strategies/servers/sparse_parameter_server.h"

namespace simgrad::strategies {

using base::Bounds;
using base::Choice;

namespace {

constexpr std::array key_shardings{
    Choice{"range", "contiguous stretches of keys, whose lengths differ by at most one"},
    Choice{"hash", "neighbours on different servers, in an order by a fixed hash, so that hot ones are scattered"}};
constexpr std::array dense_places{
    Choice{"servers", "the dense parameters are divided among the servers, pulled and pushed at every step"},
    Choice{"allreduce",
           "the dense parameters are replicated on the workers, which all-reduce their gradient (ring) during the "
           "pushes"}};
constexpr std::array formats{Choice{"float64", "8 bytes, as computed"}, Choice{"float32", "4 bytes, rounded"},
                             Choice{"float16", "2 bytes, rounded"}, Choice{"bfloat16", "2 bytes, rounded"}};

}  // namespace

void SparseParameterServer::describe(base::Describer& d) {
  d.choice("consistency", consistency, consistency_choices,
           "when the rows change; the staleness in results counts updates since the oldest row in use was read");
  d.integer("servers", shards, "number of servers, each of which holds the rows of some keys",
            Bounds::between(1, 30'000));
  d.choice("placement", placement, placement_choices, "where the servers are");
  d.choice("sharding", dealt_by, key_shardings, "how the keys are divided among several servers");
  d.integer(
      "staleness_bound", staleness_bound,
      "ssp: how many clocks (gradients of its own) a worker may be ahead of the slowest; default: 1, and 0 is bsp",
      Bounds::at_least(0));
  d.integer("cache_bound", cache_bound,
            "the number of a worker's own steps for which it keeps a key that it has fetched; 0: no cache. sgd's own "
            "updates reach the rows that are kept, adagrad's do not",
            Bounds::between(0, 1000));
  d.choice("dense", dense, dense_places, "where the dense parameters are, which belong to no key");
  d.integer("hot_keys", hot_keys,
            "the number of keys, those with the most entries in the training rows, that are replicated on the workers "
            "with the dense parameters",
            Bounds::between(0, 1e7));
  d.choice("values", values, formats,
           "the format of numbers in pushes, answers and the allreduce, to which they are rounded, by one flop per "
           "number at each end");
  d.choice("gradient", part, part_choices, "how a worker's gradient is scaled when it is applied alone (asp, ssp)");
  describe_hosts_first(d);
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
  if (dealt_by == Sharding::hash && shards == 1)
    d.refuse("sharding",
             "sharding = \"hash\" divides the keys among several servers, but servers = 1 holds all; leave sharding "
             "out, or take more servers");
  if (hot_keys > 0 && dense == DenseOn::servers)
    d.refuse("hot_keys",
             "hot_keys are replicated on workers that keep in step by an allreduce, but dense = \"servers\"; set "
             "dense = \"allreduce\", or leave hot_keys out");
}

}  // namespace simgrad::strategies

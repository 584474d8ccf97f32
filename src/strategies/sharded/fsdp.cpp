#include "strategies/sharded/fsdp.h"

#include <fmt/format.h>

#include "strategies/circumstances.h"
#include "strategies/micro_batches.h"
#include "strategies/sharded/unit_training.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

void Fsdp::describe(base::Describer& d) {
  d.flag("prefetch", prefetch,
         "whether units of the next passes are gathered during a pass; false: each unit when it is needed");
  d.integer("limit", limit, "the most units that are gathered at a time, the unit of the pass included",
            base::Bounds::between(1, 1e6));
  d.flag("reshard_after_forward", reshard_after_forward,
         "whether a unit's parameters are dropped after its forward pass, and gathered again for the backward pass; "
         "false: they stay until then");
  d.integer("shard_group", shard_group,
            "the number of workers that share the parameters: each group of as many successive workers, such as the "
            "devices of a host, has all of them, and shards of the gradient are summed across groups by a ring "
            "allreduce (hybrid sharding); default: all workers",
            base::Bounds::between(1, 1e6));
  describe_micro_batches(d, micro_batches, no_sync, true);
  collectives::describe_rings(d, rings);
  host.describe(d);
  if (prefetch) return;
  if (d.given("limit") && limit != 1)
    d.refuse("limit", "prefetch = false gathers one unit at a time; leave limit out, or prefetch");
  limit = 1;
}

Traits Fsdp::traits(int P) const {
  Traits traits =
      sharded_traits(group(P), [](const training::Learning& learning) { return stretches_of(learning.units()); });
  traits.gathers_units = true;
  traits.sums = Traits::Sums::workers;
  if (!shard_group) traits.meets = cluster::Meets::in_rings;
  traits.rings = rings;
  traits.micro_batches = micro_batches;
  return traits;
}

std::optional<Refusal> Fsdp::refusal(const Circumstances& circumstances) const {
  if (shard_group && circumstances.workers % *shard_group != 0)
    return Refusal{"shard_group", fmt::format("groups of {} workers do not divide {} workers; take a number that does",
                                              *shard_group, circumstances.workers)};
  if (auto why = micro_batches_refusal(micro_batches, circumstances)) return why;
  if (auto why = no_sync_refusal(micro_batches, no_sync, circumstances)) return why;
  if (auto why = host.refusal(circumstances)) return why;
  return sharding_refusal(circumstances);
}

record::MemoryParts Fsdp::memory(const training::MemoryTerms& terms) const {
  return training::shard_memory(terms, {.micro_batches = micro_batches,
                                        .no_sync = no_sync,
                                        .group = group(static_cast<int>(terms.workers)),
                                        .limit = prefetch ? limit : 1,
                                        .reshard_after_forward = reshard_after_forward,
                                        .optimizer_on_host = host.takes_optimizer(),
                                        .parameters_on_host = host.takes_parameters()});
}

void Fsdp::operator()(Worker& worker) const {
  train_by_units(worker, {.limit = prefetch ? limit : 1,
                          .reshard_after_forward = reshard_after_forward,
                          .group = group(worker.workers()),
                          .micro_batches = micro_batches,
                          .no_sync = no_sync,
                          .rings = rings,
                          .host = host});
}

}  // namespace simgrad::strategies

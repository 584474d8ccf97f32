#include "strategies/sharded/zero.h"

#include <algorithm>
#include <utility>

#include "cluster/ranks/side_stream.h"
#include "collectives/ring.h"
#include "strategies/circumstances.h"
#include "strategies/micro_batches.h"
#include "strategies/sharded/piece_sums.h"
#include "strategies/sharded/unit_training.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::SideStream;
using record::MemoryPart;
using training::MicroBatch;

namespace {

std::int64_t largest(const std::vector<Stretch>& pieces) { return std::ranges::max(pieces, {}, &Stretch::count).count; }

/// The stretches that are summed: those without parameters are left out, unless all are.
std::vector<Stretch> with_parameters(std::vector<Stretch> stretches) {
  const auto empty = std::ranges::remove(stretches, std::int64_t{0}, &Stretch::count);
  if (empty.begin() != stretches.begin()) stretches.erase(empty.begin(), empty.end());
  return stretches;
}

}  // namespace

void Zero::describe(base::Describer& d) {
  d.integer("stage", stage,
            "what is sharded: 1: the optimizer's vectors; 2: also the gradient; 3: also the parameters, which are "
            "gathered unit by unit",
            base::Bounds::between(1, 3));
  if (stage == 3) bucket_bytes.reset();
  describe_bucket_size(
      d, bucket_bytes,
      "stages 1 and 2: smallest bucket, in bytes; buckets of gradients are reduced while the backward pass continues; "
      "\"none\": stage 1 in one sum after it; stage 2, and always stage 3, unit by unit");
  describe_micro_batches(d, micro_batches, no_sync, stage == 3);
  collectives::describe_rings(d, rings);
  host.describe(d);
  describe_hosts_first(d);
  if (stage == 3 && hosts_first)
    d.refuse("hosts_first",
             "stage 3 divides the parameters among all devices, but with hosts_first the first device of a host sends "
             "all of them to the others; take stage 1 or 2, or fsdp with shard_group, the devices of a host");
  if (stage < 3 && host.takes_parameters())
    d.refuse("offload", "stages 1 and 2 keep all parameters on the device; offload the optimizer, or take stage 3");
  if (stage == 3 && bucket_bytes)
    d.refuse("bucket_size", "stage 3 reduces gradients unit by unit; leave bucket_size out, or take stage 1 or 2");
}

std::vector<Stretch> Zero::stretches(const std::vector<models::Layer>& layers, double number_bytes) const {
  if (stage == 3) return stretches_of(training::units_of(layers));
  if (stage == 2 && !bucket_bytes) return with_parameters(stretches_of(training::units_of(layers)));
  return buckets_of(layers, bucket_bytes, number_bytes);
}

Traits Zero::traits(int P) const {
  Traits traits = sharded_traits(P, [zero = *this](const training::Learning& learning) {
    return zero.stretches(learning.layers(), learning.number_bytes().wire);
  });
  traits.gathers_units = stage == 3;
  traits.sums = Traits::Sums::workers;
  traits.meets = cluster::Meets::in_rings;
  traits.rings = rings;
  traits.micro_batches = micro_batches;
  traits.main_gradients = main_gradients();
  return traits;
}

std::optional<Refusal> Zero::refusal(const Circumstances& circumstances) const {
  if (auto why = micro_batches_refusal(micro_batches, circumstances)) return why;
  if (auto why = no_sync_refusal(micro_batches, no_sync, circumstances)) return why;
  if (auto why = host.refusal(circumstances)) return why;
  return sharding_refusal(circumstances);
}

record::MemoryParts Zero::memory(const training::MemoryTerms& terms) const {
  const bool whole_gradient = no_sync && micro_batches > 1;
  if (stage == 3)
    return training::shard_memory(terms, {.micro_batches = micro_batches,
                                          .no_sync = no_sync,
                                          .group = terms.workers,
                                          .optimizer_on_host = host.takes_optimizer(),
                                          .parameters_on_host = host.takes_parameters()});
  training::ReplicaMemory replica{
      .micro_batches = micro_batches,
      .accumulates = micro_batches > 1,
      .optimizer_share = host.takes_optimizer() ? 0.0 : 1.0 / static_cast<double>(terms.workers),
      .main_gradients = main_gradients()};
  const std::vector<Stretch> pieces = stretches(terms.layers, terms.bytes.wire);
  if (stage == 1 && bucket_bytes) replica.bucket_numbers = static_cast<double>(largest(pieces));
  if (stage == 2 && !whole_gradient && !terms.mesh)
    for (const Stretch& piece : pieces) replica.dropped.push_back(piece.count);
  return training::replica_memory(terms, replica);
}

void Zero::operator()(Worker& worker) const {
  if (stage == 3)
    return train_by_units(
        worker,
        {.group = worker.workers(), .micro_batches = micro_batches, .no_sync = no_sync, .rings = rings, .host = host});
  const Pieces pieces(stretches(worker.learning().layers(), worker.number_bytes().wire), worker.workers());
  PieceSums sums(worker, pieces, rings, stage == 1 && !bucket_bytes,
                 stage == 2 && !(no_sync && micro_batches > 1) && !worker.on_mesh());
  if (stage == 1 && bucket_bytes)
    worker.memory().hold(MemoryPart::buckets, worker.bucket_bytes(largest(pieces.stretches())));
  worker.keep_on_host(host.takes_optimizer(), false);
  const State begun = worker.start();
  State state = sharded(begun, pieces, worker.rank(), worker);
  Tensor w = worker.resumes() ? gathered(worker.comm(), pieces, state.w, rings) : begun.w;
  while (worker.continues(state)) {
    Tensor g;           // this worker's shard of the sum over all workers
    Tensor not_summed;  // of micro-batches that are not summed over the workers
    for (const MicroBatch micro : micro_batches_of(micro_batches)) {
      if (no_sync && !micro.last()) {
        accumulate_own(worker, not_summed, worker.gradient(w, micro));
        continue;
      }
      sums.begin(not_summed);
      worker.gradient(
          w, [&](const Tensor& part, const models::Layer& layer) { sums.ready(part, layer); }, micro);
      accumulate(worker, g, sums.reduced());
    }
    host.update(worker, state, g, squares_of_whole(worker, worker.comm(), pieces, worker.rank(), g));
    w = gathered(worker.comm(), pieces, state.w, rings);
  }
}

}  // namespace simgrad::strategies

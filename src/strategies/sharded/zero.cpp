#include "strategies/sharded/zero.h"

#include <algorithm>

#include "cluster/ranks/side_stream.h"
#include "collectives/ring.h"
#include "strategies/circumstances.h"
#include "strategies/micro_batches.h"
#include "strategies/sharded/unit_training.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::SideStream;
using training::MicroBatch;

void Zero::describe(base::Describer& d) {
  d.integer("stage", stage,
            "what is sharded: 1: the optimizer's vectors; 2: the gradient, too; 3: the parameters, too, which are "
            "gathered unit by unit",
            base::Bounds::between(1, 3));
  d.quantity("bucket_size", bucket_bytes, base::Unit::bytes,
             "stages 1 and 2: gradients are reduced in buckets of at least so many bytes, as the backward pass gets "
             "them, beside the rest of it; left out: stage 1 all at once, after it; stage 2 unit by unit",
             base::Bounds::above_zero());
  describe_micro_batches(d, micro_batches, no_sync);
  if (stage == 3 && bucket_bytes)
    d.refuse("bucket_size", "stage 3 reduces gradients unit by unit; leave bucket_size out, or take stage 1 or 2");
}

std::vector<Stretch> Zero::stretches(const training::Learning& learning) const {
  if (stage == 3 || (stage == 2 && !bucket_bytes)) return stretches_of(learning.units());
  return buckets_of(learning.layers(), bucket_bytes, training::number_bytes(learning.precision()).gradient);
}

Traits Zero::traits(int P) const {
  return sharded_traits(P, [zero = *this](const training::Learning& learning) { return zero.stretches(learning); });
}

std::optional<Refusal> Zero::refusal(const Circumstances& circumstances) const {
  return sharding_refusal(circumstances);
}

void Zero::operator()(Worker& worker) const {
  if (stage == 3)
    return train_by_units(worker, {.group = worker.workers(), .micro_batches = micro_batches, .no_sync = no_sync});
  const Pieces pieces(stretches(worker.learning()), worker.workers());
  SideStream beside(worker.comm());
  State state = sharded(worker.start(), pieces, worker.rank(), worker);
  Tensor w = state.step == 0 ? worker.learning().initial_values() : gathered(worker.comm(), pieces, state.w);
  while (worker.continues(state)) {
    Tensor g;           // this worker's shard of the sum over all workers
    Tensor not_summed;  // of micro-batches that are not summed over the workers
    for (const MicroBatch micro : micro_batches_of(micro_batches)) {
      if (no_sync && !micro.last()) {
        accumulate(worker, not_summed, worker.gradient(w, micro));
        continue;
      }
      std::size_t next = pieces.count();  // the last piece is complete first
      worker.gradient(
          w,
          [&](const Tensor& part, const models::Layer& layer) {
            if (layer.first != pieces[next - 1].first) return;
            Tensor sum =
                not_summed ? values::slice(not_summed, pieces[next - 1].first, pieces[next - 1].count) : Tensor();
            accumulate(worker, sum, values::slice(part, pieces[next - 1].first, pieces[next - 1].count));
            beside.start([sum](const Communicator& comm) { return collectives::sum_shard(comm, sum); });
            --next;
          },
          micro);
      std::vector<Tensor> chunks = beside.wait_for_all();
      std::ranges::reverse(chunks);
      accumulate(worker, g, values::concatenate(chunks));
    }
    worker.update(state, g);
    w = gathered(worker.comm(), pieces, state.w);
  }
}

}  // namespace simgrad::strategies

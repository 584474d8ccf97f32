/// Gossip whose neighbours exchange buckets of layers beside the backward pass.
///
/// With b_i the end of the backward pass through bucket i (the last layers' is the first), the exchange of bucket i
/// ends at c_i = max(b_i, c_(i-1)) + alpha + degree M_i beta + (2 degree + 1) d_i / speed; a step takes the last c_i +
/// t_update. The vector that is exchanged of a bucket is the one that the update says: its parameters at the beginning
/// of the step, or after the update of the bucket, or its gradient.
#include <algorithm>

#include "cluster/ranks/side_stream.h"
#include "strategies/buckets/buckets.h"
#include "strategies/buckets/state_pieces.h"
#include "strategies/gossip/gossip.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

void Gossip::step_in_buckets(Worker& worker) const {
  CodedExchange neighbours(worker, matrices(worker), *compression, payload(), consensus_step.value_or(0.4));
  cluster::SideStream beside(worker.comm());
  State state = neighbours.start();
  const std::vector<models::Layer>& layers = worker.learning().layers();
  const double number_bytes = bytes_on_wire(worker.number_bytes(), *compression);
  const std::vector<Stretch> buckets = buckets_of(layers, *bucket_bytes, number_bytes);
  const std::vector<std::int64_t> lengths = lengths_of(buckets);
  const double P = worker.workers();
  if (worker.rank() == 0 && state.step == 0 && layers.size() == 1) note_single_bucket(worker);
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    StatePieces pieces(state, lengths);
    std::size_t left = buckets.size();
    const auto vector_of = [&](std::size_t b, const Tensor& g) {
      if (update == GossipUpdate::combine_then_adapt) return pieces[b].w;
      const Tensor own = P * values::slice(g, buckets[b].first, buckets[b].count);
      if (update == GossipUpdate::gradient_exchange) return own;
      worker.update(pieces[b], own);
      return pieces[b].w;
    };
    const Tensor g = worker.gradient(state.w, [&](const Tensor& parts, const models::Layer& layer) {
      // Layers without parameters may stand in front of the first bucket.
      if (left == 0 || layer.first != buckets[left - 1].first) return;
      const Tensor x = vector_of(--left, parts);
      beside.start([&neighbours, x, first = buckets[left].first, step](const cluster::Communicator& comm) {
        return neighbours.combine_beside(comm, x, first, step);
      });
    });
    std::vector<Tensor> all = beside.wait_for_all();
    std::ranges::reverse(all);
    const Tensor mixed = values::concatenate(all);
    if (update == GossipUpdate::gradient_exchange) {
      worker.update(state, mixed);
      continue;
    }
    if (update == GossipUpdate::adapt_then_combine) state = pieces.joined();
    state.w = mixed;
    if (update == GossipUpdate::combine_then_adapt) worker.update(state, P * g);
  }
}

}  // namespace simgrad::strategies

/// Stochastic gradient push whose ranks push buckets of layers beside the backward pass.
///
/// With u_i the time at which bucket i is updated (the last layers' is the first), its exchange ends at c_i = max(u_i,
/// c_(i-1)) + alpha + degree (M_i + 8) beta + (2 + degree) d_i / speed; a step takes the last c_i. Each bucket carries
/// the weight omega of its rank, which is the same in all buckets of a step.
#include <algorithm>

#include "cluster/ranks/side_stream.h"
#include "strategies/buckets/buckets.h"
#include "strategies/buckets/state_pieces.h"
#include "strategies/gossip/push_sum.h"
#include "strategies/gossip/sgp.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

void Sgp::step_in_buckets(Worker& worker) const {
  const std::shared_ptr<const PushTurns> push_turns = turns(worker);
  PushSum pushes(worker, *push_turns, *compression, false);
  cluster::SideStream beside(worker.comm());
  State state = pushes.start();
  Mass mass = pushes.mass(state);
  const std::vector<models::Layer>& layers = worker.learning().layers();
  const std::vector<Stretch> buckets =
      buckets_of(layers, *bucket_bytes, bytes_on_wire(worker.number_bytes(), *compression));
  const std::vector<std::int64_t> lengths = lengths_of(buckets);
  if (worker.rank() == 0 && state.step == 0 && layers.size() == 1) note_single_bucket(worker);
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor z = state.w;
    state.w = mass.x;
    state.joint = {};
    StatePieces pieces(state, lengths);
    std::size_t left = buckets.size();
    double omega = mass.omega;
    worker.gradient(z, [&](const Tensor& parts, const models::Layer& layer) {
      // Layers without parameters may stand in front of the first bucket.
      if (left == 0 || layer.first != buckets[left - 1].first) return;
      const Stretch bucket = buckets[--left];
      worker.update(pieces[left], worker.workers() * values::slice(parts, bucket.first, bucket.count));
      beside.start([&, x = pieces[left].w, before = mass.omega, bucket, step](const cluster::Communicator& comm) {
        const Mass after = pushes.exchanged_beside(comm, {x, before}, bucket.first, step);
        omega = after.omega;
        return after.x;
      });
    });
    std::vector<Tensor> all = beside.wait_for_all();
    std::ranges::reverse(all);
    state = pieces.joined();
    mass = {values::concatenate(all), omega};
    state.w = mass.z();
    state.joint = pushes.joint(mass, {});
  }
}

}  // namespace simgrad::strategies

#include "strategies/gossip/sgp.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "strategies/buckets/buckets.h"
#include "strategies/circumstances.h"
#include "strategies/gossip/graphs/lines.h"
#include "strategies/gossip/graphs/powers.h"
#include "strategies/gossip/push_sum.h"
#include "training/worker.h"

namespace simgrad::strategies {

Sgp::Sgp() {
  auto directed = std::make_unique<Exponential>();
  directed->one_way = true;
  graph = base::Slot<Graph>(graphs(), std::move(directed));
}

void Sgp::describe(base::Describer& d) {
  describe_graph(d);
  d.flag("one_peer", one_peer, "whether a rank sends to one neighbour per step, to each in turn; false: to all");
  d.flag("overlap", overlap, "whether a share travels while the next gradient is computed, and is added a step later");
  describe_parameter_compression(
      d, "compression", compression,
      "how shares of parameters are compressed before they are sent; what is left out stays with the sender");
  describe_bucket_size(d, bucket_bytes,
                       "smallest bucket, in bytes on the wire; ranks update and push buckets of layers while the "
                       "backward pass continues; \"none\": one push of everything");
  if (bucket_bytes && overlap)
    d.refuse("overlap",
             "overlap = true sends a whole share while the next gradient is computed, but bucket_size sends buckets "
             "during this gradient's backward pass; leave one of them out");
}

Traits Sgp::traits(int P) const {
  Traits traits = OnGraph::traits(P);
  if (!bucket_bytes) traits.recoveries = training::every_recovery();
  return traits;
}

std::optional<Refusal> Sgp::refusal(const Circumstances& circumstances) const {
  if (auto refusal = OnGraph::refusal(circumstances)) return refusal;
  if (bucket_bytes)
    if (auto refusal = bucket_updates_refusal(circumstances)) return refusal;
  const Adjacency all = drawn(static_cast<int>(circumstances.workers), circumstances.seed);
  if (strong_components(all) == static_cast<int>(components(all).size())) return {};
  return Refusal{"graph",
                 "sgp needs a strongly connected graph: to some ranks there is no path back, so their parameters would "
                 "drain away; add the missing edges"};
}

std::shared_ptr<const PushTurns> Sgp::turns(const Worker& worker) const {
  const std::shared_ptr<const Adjacency> all = edges(worker);
  if (!turns_ || turns_->edges() != all) turns_ = std::make_shared<const PushTurns>(all, one_peer);
  if (worker.rank() == 0) report_gap(worker, turns_->spectral_gap(), turns_->cycle());
  return turns_;
}

void Sgp::operator()(Worker& worker) const {
  if (bucket_bytes) return step_in_buckets(worker);
  const std::shared_ptr<const PushTurns> push_turns = turns(worker);
  PushSum pushes(worker, *push_turns, *compression, overlap);
  State state = pushes.start();
  Mass mass = pushes.mass(state);  // x and omega; state.w is z = x / omega
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor g = worker.own_gradient(state.w);
    state.w = mass.x;
    worker.update(state, g);  // x <- x - lr g(z)
    mass.x = state.w;
    const Mass share = pushes.split(mass, step);  // one share stays, one goes to each target
    pushes.exchange(mass, share, step);           // the shares that come in are added
    state.w = mass.z();
    state.joint = pushes.joint(mass, share);
  }
  pushes.finish();
}

}  // namespace simgrad::strategies

#include "strategies/gossip/gossip.h"

#include <utility>

#include "strategies/gossip/push_turns.h"
#include "training/worker.h"

namespace simgrad::strategies {

CodedExchange::Payload Gossip::payload() const {
  using Payload = CodedExchange::Payload;
  if (update == GossipUpdate::gradient_exchange) return Payload::gradients;
  return compression->keeps_parameters() ? Payload::parameters : Payload::differences;
}

Traits Gossip::traits(int P) const {
  Traits traits = Mixes::traits(P);
  // A rank that comes back has no copies of its neighbours.
  if (payload() != CodedExchange::Payload::differences && !bucket_bytes && !one_peer)
    traits.recoveries = training::every_recovery();
  // The ranks that remain after a loss may form a graph for which there is no cycle of turns.
  if (one_peer) traits.recoveries = {cluster::Recovery::restart, cluster::Recovery::wait};
  return traits;
}

MixingTurns Gossip::turns(const std::shared_ptr<const Adjacency>& edges, std::span<const int> ranks) const {
  return one_peer ? PushTurns(edges, true).matrices() : Mixes::turns(edges, ranks);
}

void Gossip::operator()(Worker& worker) const {
  if (bucket_bytes) return step_in_buckets(worker);
  CodedExchange neighbours(worker, matrices(worker), *compression, payload(), consensus_step.value_or(0.4));
  State state = neighbours.start();
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor x = state.w;
    CodedExchange::Sent beside;
    if (overlap) beside = neighbours.start(x, step);
    const Tensor g = worker.own_gradient(x);
    switch (update) {
      case GossipUpdate::combine_then_adapt:
        state.w = overlap ? neighbours.finish(std::move(beside)) : neighbours.combine(x, step);
        worker.update(state, g);
        break;
      case GossipUpdate::adapt_then_combine:
        worker.update(state, g);
        state.w = neighbours.combine(state.w, step);
        break;
      case GossipUpdate::gradient_exchange:
        worker.update(state, neighbours.combine(g, step));
        break;
    }
  }
}

}  // namespace simgrad::strategies

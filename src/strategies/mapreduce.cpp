#include "strategies/mapreduce.h"

#include "collectives/flat.h"

namespace simgrad::strategies {

void MapReduce::operator()(Worker& worker) const {
  for (;;) {  // the training ends it, while it waits for the next broadcast
    const Tensor w = collectives::flat_broadcast(worker.comm(), worker.server(), {}).tensor;
    const Tensor g = worker.gradient(w);
    worker.comm().send(worker.server(), g);
  }
}

void MapReduce::operator()(Server& server) const {
  const int root = server.comm().rank();
  State state = server.start();
  while (server.continues(state)) {
    collectives::flat_broadcast(server.comm(), root, state.w);
    collectives::FlatReduce reduce(server.comm(), root);
    server.update(state, reduce.sum());
  }
}

}  // namespace simgrad::strategies

#include "strategies/gossip.h"

#include <array>

#include "strategies/neighbourhood.h"

namespace simgrad::strategies {

using base::Choice;

namespace {

constexpr std::array updates{
    Choice{"combine_then_adapt", "average the neighbours' parameters, then step with the gradient at the old ones (D-PSGD)"},
    Choice{"adapt_then_combine", "step first, then average"},
    Choice{"gradient_exchange", "average the neighbours' gradients, then step"}};

}  // namespace

void Gossip::describe(base::Describer& d) {
  d.choice("graph", graph, graph_choices(), "who talks to whom; not the cabling, which is cluster.topology");
  d.choice("update", update, updates, "what is averaged, and when");
}

void Gossip::operator()(Worker& worker) const {
  const int P = worker.workers();
  const Mixing W = mixing(graph, P, worker.comm().rank());
  if (worker.comm().rank() == 0) worker.training().set_spectral_gap(spectral_gap(graph, P));
  const Neighbourhood neighbours(worker, W);
  State state = neighbours.start();
  while (worker.continues(state)) {
    neighbours.welcome(state);
    // A rank steps alone, so its part of the global mean counts P times.
    const std::int64_t step = state.step;
    const Tensor g = P * worker.gradient(state.w);
    switch (update) {
      case GossipUpdate::combine_then_adapt:
        state.w = neighbours.combine(state.w, step);
        worker.update(state, g);
        break;
      case GossipUpdate::adapt_then_combine:
        worker.update(state, g);
        state.w = neighbours.combine(state.w, step);
        break;
      case GossipUpdate::gradient_exchange: worker.update(state, neighbours.combine(g, step)); break;
    }
  }
}

}  // namespace simgrad::strategies

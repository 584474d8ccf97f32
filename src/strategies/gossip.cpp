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
  d.component("graph", graph, "who talks to whom; not the cabling, which is cluster.topology");
  d.choice("update", update, updates, "what is averaged, and when");
  Mixes::describe(d);
  d.flag("overlap", overlap, "whether the parameters travel while the gradient at them is computed");
  if (overlap && update != GossipUpdate::combine_then_adapt)
    d.refuse("overlap", "overlap = true sends the parameters before there is a gradient, but update = \"adapt_then_combine\" and "
                        "\"gradient_exchange\" send what the gradient makes; use update = \"combine_then_adapt\"");
}

void Gossip::operator()(Worker& worker) const {
  const int P = worker.workers();
  const auto W = matrix(worker);
  const Neighbourhood neighbours(worker, W->rows[static_cast<std::size_t>(worker.comm().rank())]);
  State state = neighbours.start();
  while (worker.continues(state)) {
    neighbours.welcome(state);
    const std::int64_t step = state.step;
    const Tensor x = state.w;
    Neighbourhood::Exchange beside;
    if (overlap) beside = neighbours.start(x, step);
    // A rank steps alone, so its part of the global mean counts P times.
    const Tensor g = P * worker.gradient(x);
    switch (update) {
      case GossipUpdate::combine_then_adapt:
        state.w = overlap ? neighbours.combine(x, std::move(beside)) : neighbours.combine(x, step);
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

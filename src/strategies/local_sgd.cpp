#include "strategies/local_sgd.h"

namespace simgrad::strategies {

void LocalSgd::describe(base::Describer& d) {
  d.integer("local_steps", local_steps, "H: updates of its own that a replica makes between two averages",
            base::Bounds::at_least(1));
  d.component("algorithm", algorithm, "how the average is made");
}

void LocalSgd::operator()(Worker& worker) const {
  State state = worker.start();
  while (worker.continues(state)) {
    // A rank steps alone, so its part of the global mean counts P times.
    worker.update(state, worker.workers() * worker.gradient(state.w));
    if (state.step % local_steps == 0)
      state.w = (*algorithm)(worker.comm(), state.w, collectives::Reduction::mean);
  }
}

}  // namespace simgrad::strategies

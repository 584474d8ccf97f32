#include "strategies/single.h"

#include "strategies/sparse_single.h"

namespace simgrad::strategies {

void Single::describe(base::Describer& d) { d.choice("job", job, jobs, "what a step does with its rows"); }

void Single::operator()(Worker& worker) const {
  if (job == Job::gradient && trains_in_place(worker)) return train_in_place(worker);
  State state = worker.start();
  while (worker.continues(state)) {
    if (job == Job::k_means)
      worker.move_centres(state, worker.assignments(state.w));
    else
      worker.update(state, worker.gradient(state.w));
  }
}

}  // namespace simgrad::strategies

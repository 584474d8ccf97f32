#include "strategies/single.h"

#include "strategies/sparse_single.h"
#include "training/worker.h"

namespace simgrad::strategies {

void Single::describe(base::Describer& d) { d.choice("job", job, jobs, "the work of a step on its rows"); }

Traits Single::traits(int) const {
  using cluster::Recovery;
  // When its only host crashes, nothing in memory is left.
  return {.workers = 1,
          .recoveries = {Recovery::restart, Recovery::wait},
          .optimizes = job == Job::gradient,
          .meets = cluster::Meets::in_rings};
}

void Single::operator()(Worker& worker) const {
  if (job == Job::gradient && updates_rows(worker)) return train_by_rows(worker);
  State state = worker.start();
  while (worker.continues(state)) {
    if (job == Job::k_means)
      worker.move_centres(state, worker.assignments(state.w));
    else
      worker.update(state, worker.gradient(state.w));
  }
}

}  // namespace simgrad::strategies

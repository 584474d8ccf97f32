#include "strategies/single.h"

namespace simgrad::strategies {

void Single::describe(base::Describer& d) { d.choice("job", job, jobs, "what a step does with its rows"); }

std::string Single::unfit(const Fit& fit) const {
  if (job == Job::k_means && fit.model.predicts() != models::Predicts::cluster)
    return "job = \"k_means\" moves the centres of the model k_means, but the model is another; set [model] kind = "
           "\"k_means\", or job = \"gradient\"";
  return {};
}

void Single::operator()(Worker& worker) const {
  State state = worker.start();
  while (worker.continues(state)) {
    if (job == Job::k_means)
      worker.move_centres(state, worker.assignments(state.w));
    else
      worker.update(state, worker.gradient(state.w));
  }
}

}  // namespace simgrad::strategies

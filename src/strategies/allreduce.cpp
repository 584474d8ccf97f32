#include "strategies/allreduce.h"

namespace simgrad::strategies {

void Allreduce::describe(base::Describer& d) { d.component("algorithm", algorithm, "how the sum is made"); }

void Allreduce::operator()(Worker& worker) const {
  State state = worker.start();
  while (worker.continues(state)) {
    const Tensor g = (*algorithm)(worker.comm(), worker.gradient(state.w));
    worker.update(state, g);
  }
}

}  // namespace simgrad::strategies

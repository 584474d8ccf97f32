#include "strategies/single.h"

namespace simgrad::strategies {

void Single::operator()(Worker& worker) const {
  State state = worker.start();
  while (worker.continues(state)) {
    const Tensor g = worker.gradient(state.w);
    worker.update(state, g);
  }
}

}  // namespace simgrad::strategies

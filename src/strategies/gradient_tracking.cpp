#include "strategies/gradient_tracking.h"

#include <array>

#include "strategies/neighbourhood.h"

namespace simgrad::strategies {

void GradientTracking::describe(base::Describer& d) {
  describe_graph(d);
  Mixes::describe(d);
}

void GradientTracking::operator()(Worker& worker) const {
  const int P = worker.workers();
  const auto W = matrix(worker);
  const Neighbourhood neighbours(worker, W->rows[static_cast<std::size_t>(worker.comm().rank())]);
  State state = worker.start();
  const std::int64_t d = state.w.size();
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor g = P * worker.gradient(state.w);
    Tensor y = g;
    worker.comm().charge_reduction(2.0 * static_cast<double>(d));
    if (const auto& before = state.carried.vectors; !before.empty()) y = before[0] + (g - before[1]);
    const Tensor mixed = neighbours.combine(values::concatenate(std::array{state.w, y}), step);
    state.w = values::slice(mixed, 0, d);
    worker.update(state, y);
    state.carried.vectors = {values::slice(mixed, d, d), g};
  }
}

}  // namespace simgrad::strategies

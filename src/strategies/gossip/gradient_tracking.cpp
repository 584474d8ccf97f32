#include "strategies/gossip/gradient_tracking.h"

#include <array>

#include "strategies/gossip/coded_exchange.h"

namespace simgrad::strategies {

void GradientTracking::describe(base::Describer& d) {
  Mixes::describe(d);
  describe_parameter_compression(
      d, "compression", compression,
      "what is sent instead of parameters and of tracked gradients; replicas move by differences of "
      "what was sent, which keeps both means");
}

void GradientTracking::operator()(Worker& worker) const {
  const int P = worker.workers();
  const auto W = matrix(worker);
  const MixingRow& row = W->rows[static_cast<std::size_t>(worker.comm().rank())];
  const Neighbourhood neighbours(worker, row);
  CodedExchange exchange(worker, row, neighbours, *compression, CodedExchange::Of::parameters);
  State state = worker.start();
  const std::int64_t d = state.w.size();
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor g = P * worker.gradient(state.w);
    Tensor y = g;
    worker.comm().charge_reduction(2.0 * static_cast<double>(d), record::Work::update);
    if (const auto& before = state.carried.vectors; !before.empty()) y = before[0] + (g - before[1]);
    const Tensor mixed = exchange.combine(values::concatenate(std::array{state.w, y}), step);
    state.w = values::slice(mixed, 0, d);
    worker.update(state, y);
    state.carried.vectors = {values::slice(mixed, d, d), g};
  }
}

}  // namespace simgrad::strategies

#include "strategies/gossip/gradient_tracking.h"

#include <array>

#include "strategies/gossip/coded_exchange.h"
#include "training/worker.h"

namespace simgrad::strategies {

void GradientTracking::describe(base::Describer& d) {
  Mixes::describe(d);
  describe_parameter_compression(
      d, "compression", compression,
      "how parameters and tracked gradients are compressed before they are sent; replicas move by differences of "
      "what is sent, which keeps both means");
}

void GradientTracking::operator()(Worker& worker) const {
  CodedExchange neighbours(worker, matrices(worker), *compression, CodedExchange::Payload::parameters);
  State state = worker.start();
  const std::int64_t d = state.w.size();
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor g = worker.own_gradient(state.w);
    Tensor y = g;
    worker.charge(2.0 * static_cast<double>(d), record::Work::update);
    if (const auto& before = state.joint.vectors; !before.empty()) y = before[0] + (g - before[1]);
    const Tensor mixed =
        neighbours.combine(values::concatenate(std::array{values::decoded(state.w), values::decoded(y)}), step);
    state.w = values::slice(mixed, 0, d);
    worker.update(state, y);
    state.joint.vectors = {values::slice(mixed, d, d), g};
  }
}

}  // namespace simgrad::strategies

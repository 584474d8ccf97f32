#include "strategies/gossip/d2.h"

#include <fmt/format.h>

#include "strategies/gossip/coded_exchange.h"
#include "strategies/gossip/mixing/spectrum.h"
#include "training/worker.h"

namespace simgrad::strategies {

void D2::describe(base::Describer& d) {
  Mixes::describe(d);
  describe_parameter_compression(
      d, "compression", compression,
      "how parameters are compressed before they are sent; replicas move by differences of what is sent, which "
      "keeps their mean");
}

std::string D2::matrix_refusal(const MixingMatrix& W) const {
  if (!W.symmetric())
    return "d2 needs a symmetric mixing matrix; use another graph or mixing, or the strategy gradient_tracking";
  const auto found = spectrum_of(W);
  if (!found || !found->least || *found->least > -1.0 / 3.0 + 1e-9) return {};
  return fmt::format(
      "d2 needs mixing whose eigenvalues are all above -1/3, but the least of these is {:.6g}; set lazy = true, "
      "which makes them (1 + lambda) / 2",
      *found->least);
}

void D2::operator()(Worker& worker) const {
  CodedExchange neighbours(worker, matrices(worker), *compression, CodedExchange::Payload::parameters);
  State state = worker.start();
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor x = state.w;
    worker.update(state, worker.own_gradient(x));
    const Tensor psi = state.w;
    worker.charge(2.0 * static_cast<double>(x.size()), record::Work::update);
    const Tensor phi = state.joint.empty() ? psi : psi + (x - state.joint.vectors.front());
    state.w = neighbours.combine(phi, step);
    state.joint.vectors = {psi};
  }
}

}  // namespace simgrad::strategies

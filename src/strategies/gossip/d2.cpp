#include "strategies/gossip/d2.h"

#include <fmt/format.h>

#include "strategies/gossip/coded_exchange.h"
#include "strategies/gossip/mixing/spectrum.h"

namespace simgrad::strategies {

void D2::describe(base::Describer& d) {
  Mixes::describe(d);
  describe_parameter_compression(
      d, "compression", compression,
      "what is sent instead of parameters; replicas move by differences of what was sent, which "
      "keeps their mean");
}

std::string D2::unsuited(const MixingMatrix& W) const {
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
  const int P = worker.workers();
  const auto W = matrix(worker);
  const MixingRow& row = W->rows[static_cast<std::size_t>(worker.comm().rank())];
  const Neighbourhood neighbours(worker, row);
  CodedExchange exchange(worker, row, neighbours, *compression, CodedExchange::Of::parameters);
  State state = worker.start();
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor x = state.w;
    worker.update(state, P * worker.gradient(x));
    const Tensor psi = state.w;
    worker.comm().charge_reduction(2.0 * static_cast<double>(x.size()), record::Work::update);
    const Tensor phi = state.carried.vectors.empty() ? psi : psi + (x - state.carried.vectors.front());
    state.w = exchange.combine(phi, step);
    state.carried.vectors = {psi};
  }
}

}  // namespace simgrad::strategies

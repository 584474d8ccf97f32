#include "strategies/replicas/diloco.h"

#include "strategies/circumstances.h"
#include "training/worker.h"

namespace simgrad::strategies {

void DiLoCo::describe(base::Describer& d) {
  using base::Bounds;
  d.integer(
      "local_steps", local_steps,
      "H: inner steps of a replica, with the training's optimizer, between two outer steps (500 in the paper). An "
      "evaluation in the middle of a round is of the replicas' mean, which no worker holds: a target loss counts after "
      "an outer step",
      Bounds::at_least(1));
  d.number("outer_rate", outer_rate,
           "how far an outer step goes along the mean change of the replicas; 1 without momentum gives their mean",
           Bounds{.least = 0.0, .positive = true});
  d.number("outer_momentum", outer_momentum,
           "mu: the share of the earlier outer gradients that each outer step keeps (Nesterov)",
           Bounds{.least = 0.0, .most = 1.0 - 1e-9});
  d.component("algorithm", algorithm, "how the outer gradients are averaged");
  describe_hosts_first(d, algorithm.kind());
}

std::optional<Refusal> DiLoCo::refusal(const Circumstances& circumstances) const {
  if (const std::string why = algorithm->refusal(circumstances.cluster); !why.empty()) return Refusal{"algorithm", why};
  return {};
}

void DiLoCo::operator()(Worker& worker) const {
  State state = worker.start();
  if (state.own.empty()) state.own = {state.w, 0.0 * state.w};
  while (worker.continues(state)) {
    worker.update(state, worker.own_gradient(state.w));
    if (rounds().end_after(state.step, false)) outer_step(worker, state);
  }
}

void DiLoCo::outer_step(Worker& worker, State& state) const {
  const Tensor mean = (*algorithm)(worker.comm(), state.w, collectives::Reduction::mean);
  const Tensor outer_gradient = state.own[theta] - mean;
  Tensor& u = state.own[momentum];
  worker.charge(7.0 * static_cast<double>(mean.size()), record::Work::update);
  u = outer_momentum * u + outer_gradient;
  // theta - rate (D + mu u), from the mean on: rate 1 without momentum leaves the mean as it is, to the last bit.
  state.w = values::add_scaled(mean, 1.0 - outer_rate, outer_gradient);
  state.w = values::add_scaled(state.w, -outer_rate * outer_momentum, u);
  state.own[theta] = state.w;
}

}  // namespace simgrad::strategies

#include "strategies/gossip.h"

#include <algorithm>
#include <array>
#include <vector>

namespace simgrad::strategies {

using base::Choice;
using cluster::Communicator;
using cluster::Pending;

namespace {

constexpr std::array updates{
    Choice{"combine_then_adapt", "average the neighbours' parameters, then step with the gradient at the old ones (D-PSGD)"},
    Choice{"adapt_then_combine", "step first, then average"},
    Choice{"gradient_exchange", "average the neighbours' gradients, then step"}};

/// sum_j W_ij x_j over rank i and its neighbours, added in the order of ranks.
Tensor combine(const Communicator& comm, const Mixing& row, const Tensor& x) {
  if (row.neighbours.empty()) return x;
  std::vector<Pending> receives;
  std::vector<Pending> sends;
  for (const int j : row.neighbours) receives.push_back(comm.start_receive(j));
  for (const int j : row.neighbours) sends.push_back(comm.start_send(j, x));
  std::vector<Tensor> terms;
  for (Pending& receive : receives) terms.push_back(receive.wait().tensor);
  for (Pending& send : sends) send.wait();
  const auto own = std::lower_bound(row.neighbours.begin(), row.neighbours.end(), comm.rank()) - row.neighbours.begin();
  terms.insert(terms.begin() + own, x);
  comm.charge_reduction((2.0 * static_cast<double>(row.neighbours.size()) + 1.0) * static_cast<double>(x.size()));
  return values::weighted_sum(terms, row.weights);
}

}  // namespace

void Gossip::describe(base::Describer& d) {
  d.choice("graph", graph, graph_choices(), "who talks to whom; not the cabling, which is cluster.topology");
  d.choice("update", update, updates, "what is averaged, and when");
}

void Gossip::operator()(Worker& worker) const {
  const int P = worker.workers();
  const Mixing W = mixing(graph, P, worker.comm().rank());
  if (worker.comm().rank() == 0) worker.training().set_spectral_gap(spectral_gap(graph, P));
  State state = worker.start();
  while (worker.continues(state)) {
    // A rank steps alone, so its part of the global mean counts P times.
    const Tensor g = P * worker.gradient(state.w);
    switch (update) {
      case GossipUpdate::combine_then_adapt:
        state.w = combine(worker.comm(), W, state.w);
        worker.update(state, g);
        break;
      case GossipUpdate::adapt_then_combine:
        worker.update(state, g);
        state.w = combine(worker.comm(), W, state.w);
        break;
      case GossipUpdate::gradient_exchange: worker.update(state, combine(worker.comm(), W, g)); break;
    }
  }
}

}  // namespace simgrad::strategies

#include "strategies/gossip/ad_psgd.h"

#include <utility>

#include "strategies/circumstances.h"
#include "strategies/gossip/mixing/spectrum.h"
#include "strategies/gossip/pair_averages.h"
#include "training/worker.h"

namespace simgrad::strategies {

void AdPsgd::describe(base::Describer& d) {
  describe_graph(d);
  describe_parameter_compression(
      d, "compression", compression,
      "how parameters are compressed before they are sent; both sides move by half of the difference of what "
      "they send, which keeps the mean");
}

Traits AdPsgd::traits(int P) const {
  Traits traits = OnGraph::traits(P);
  traits.pace = Pace::own_pace;
  traits.asynchronous = true;
  traits.gradients_an_update = 0;
  traits.recoveries = training::every_recovery();
  if (graph->few_neighbours() || !graph->refusal(P).empty()) return traits;
  constexpr std::int64_t more_than_any_simulation_has = 1'000'000;
  if (traits.pairs > more_than_any_simulation_has)
    traits.answering_actors = traits.pairs;  // without the graph, which may not fit into memory either
  else
    for (const auto& peers : drawn(P, 1)) traits.answering_actors += static_cast<std::int64_t>(peers.size());
  return traits;
}

std::optional<Refusal> AdPsgd::refusal(const Circumstances& circumstances) const {
  if (!graph->directed()) return OnGraph::refusal(circumstances);
  return Refusal{
      "graph",
      "ad_psgd averages in pairs, but some edges of this graph lead one way only; use one whose edges lead both "
      "ways, or the strategy sgp"};
}

void AdPsgd::operator()(Worker& worker) const {
  const auto graph_edges = edges(worker);
  if (worker.rank() == 0)
    if (const auto gap = spectral_gap_of_pairs(*graph_edges)) worker.report_spectral_gap(*gap);
  std::vector<int> neighbours = (*graph_edges)[static_cast<std::size_t>(worker.rank())];
  std::ranges::sort(neighbours);
  PairAverages averages(worker, neighbours, *compression);
  State& state = averages.state();  // others' averages change it at any time
  while (averages.continues()) {
    const Tensor x = state.w;
    const std::int64_t read_at = worker.updates();
    auto average = averages.start();  // with a random neighbour
    const Tensor g = worker.own_gradient(x);
    averages.finish(std::move(average));  // w <- w + (x_j - x) / 2
    worker.update_alone(state, g);
    worker.count(worker.updates() - read_at);
  }
}

}  // namespace simgrad::strategies

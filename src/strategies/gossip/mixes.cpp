#include "strategies/gossip/mixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strategies/circumstances.h"
#include "strategies/gossip/graphs/lines.h"
#include "training/worker.h"

namespace simgrad::strategies {

namespace {

std::vector<int> everybody(int P) {
  std::vector<int> ranks(static_cast<std::size_t>(P));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

void Mixes::describe(base::Describer& d) {
  describe_graph(d);
  describe_mixing(d);
}

void Mixes::describe_mixing(base::Describer& d) {
  d.component("mixing", mixing, "the weights of the averages");
  d.flag("lazy", lazy, "whether half of every average is one's own, (I + W) / 2, so that no eigenvalue is negative");
  if (graph.kind() == "support" && mixing.kind() != "file")
    d.refuse(
        "graph",
        fmt::format("graph = \"support\" is that of a matrix in a file, but mixing is \"{}\"; name another graph, or "
                    "give mixing = {{ kind = \"file\", path = \"...\" }}",
                    mixing.kind()));
}

Adjacency Mixes::drawn(int P, std::uint64_t seed) const {
  if (graph.kind() == "support")
    if (auto support = mixing->support(P)) return *support;
  return graph->edges(P, seed);
}

MixingMatrix Mixes::matrix(const Adjacency& edges, std::span<const int> ranks) const {
  const MixingMatrix W = mixing->matrix(edges, ranks);
  return lazy ? W.lazy() : W;
}

std::optional<Refusal> Mixes::refusal(const Circumstances& circumstances) const {
  if (auto why = OnGraph::refusal(circumstances)) return why;
  const int P = static_cast<int>(circumstances.workers);
  if (graph.kind() == "support") {  // the matrix is looked at before its graph
    const std::string why = mixing->refusal(Complete().edges(P, circumstances.seed));
    if (!why.empty()) return Refusal{"mixing", why};
  }
  const Adjacency all = drawn(P, circumstances.seed);
  if (const std::string why = mixing->refusal(all); !why.empty()) return Refusal{"mixing", why};
  const std::string why = matrix_refusal(matrix(all, everybody(P)));
  return why.empty() ? std::nullopt : std::optional(Refusal{"mixing", why});
}

std::vector<std::string> Mixes::warnings(std::int64_t workers, std::uint64_t seed) const {
  const int P = static_cast<int>(workers);
  if (!graph->refusal(P).empty()) return {};  // no such graph exists, and the run refuses it
  const Adjacency graph_edges = drawn(P, seed);
  if (!mixing->refusal(graph_edges).empty()) return {};
  const MixingMatrix W = matrix(graph_edges, everybody(P));
  const Adjacency used = W.support();
  const bool same =
      components(graph_edges) == components(used) && strong_components(graph_edges) == strong_components(used);
  std::vector<std::string> all =
      broken(used, same ? "the graph" : "the graph, without the edges that the mixing matrix gives 0,");
  if (!W.doubly_stochastic())
    all.push_back(
        fmt::format("mixing = \"{}\" on this graph has rows that sum to 1 and columns that do not: averaging does not "
                    "preserve the mean, and ranks whose columns sum to more count more in the common limit; "
                    "\"metropolis\" preserves it",
                    mixing.kind()));
  return all;
}

std::optional<Graph::Extremes> Mixes::extremes(int P) const {
  // A rest of a graph that has no form of that number of ranks is another graph.
  if (P == 1 || mixing.kind() != "metropolis" || graph->of_named_ranks() || !graph->refusal(P).empty()) return {};
  auto found = graph->metropolis_extremes(P);
  if (found && lazy) found = Graph::Extremes{found->below_one / 2.0, (1.0 + found->least) / 2.0};
  return found;
}

std::optional<Spectrum> Mixes::spectrum_of(const MixingMatrix& W) const {
  const auto known = extremes(W.size());
  return known ? Spectrum{.second = std::max(1.0 - known->below_one, -known->least), .least = known->least}
               : spectrum(W);
}

MixingTurns Mixes::turns(const std::shared_ptr<const Adjacency>& edges, std::span<const int> ranks) const {
  return {matrix(*edges, ranks)};
}

void Mixes::report_gap_of(const Worker& worker, const MixingTurns& W) const {
  if (W.size() > 1) return report_gap(worker, spectral_gap_of_turns(W), W.size());
  const auto known = extremes(W.front().size());
  const auto found = known ? std::min(known->below_one, 1.0 - std::abs(known->least)) : spectral_gap(W.front());
  if (found)
    worker.report_spectral_gap(*found);
  else if (writes_notes(worker))
    worker.note("spectral_gap: not computed: the matrix is large and either not symmetric or slow to mix");
}

std::shared_ptr<const MixingTurns> Mixes::matrices(const Worker& worker) const {
  const auto graph_edges = edges(worker);
  if (!W_ || mixed_ != graph_edges) {
    mixed_ = graph_edges;
    W_ = std::make_shared<const MixingTurns>(turns(graph_edges, living(worker)));
  }
  if (worker.rank() == 0) report_gap_of(worker, *W_);
  return W_;
}

}  // namespace simgrad::strategies

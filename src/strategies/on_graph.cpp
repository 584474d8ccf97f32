#include "strategies/on_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "strategies/graphs/lines.h"
#include "strategies/mixing/spectrum.h"

namespace simgrad::strategies {

namespace {

std::vector<int> everybody(int P) {
  std::vector<int> ranks(static_cast<std::size_t>(P));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// The scenario's numbers of the living workers.
std::vector<int> living(const Worker& worker) {
  std::vector<int> ranks;
  for (int place = 0; place < worker.workers(); ++place) ranks.push_back(worker.comm().world_rank(place));
  return ranks;
}

bool first_of_all(const Worker& worker) {
  return worker.comm().rank() == 0 && worker.training().generation() == 0 && !worker.rejoins();
}

}  // namespace

std::optional<Strategy::Unfit> OnGraph::unfit(const Fit& fit) const {
  const std::string why = graph->unfit(static_cast<int>(fit.workers));
  return why.empty() ? std::nullopt : std::optional(Unfit{"graph", why});
}

std::vector<std::string> OnGraph::warnings(std::int64_t workers, std::uint64_t seed) const {
  const std::vector<int> parts = components(drawn(static_cast<int>(workers), seed));
  if (parts.size() == 1) return {};
  constexpr std::size_t shown = 8;
  const std::vector<int> largest(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(std::min(shown, parts.size())));
  return {fmt::format("the graph falls into {} parts of {}{} ranks, between which nothing travels: each converges to a mean of its "
                      "own, the consensus distance stays, and the spectral gap is 0",
                      parts.size(), fmt::join(largest, ", "), parts.size() > shown ? ", ..." : "")};
}

bool OnGraph::leaves_a_rest(const Worker& worker) const {
  const int P = worker.workers();
  return P < worker.training().world().workers() && (graph->of_named_ranks() || !graph->unfit(P).empty());
}

void OnGraph::describe_graph(base::Describer& d) {
  d.component("graph", graph, "who talks to whom; not the cabling, which is cluster.topology");
}

std::shared_ptr<const Adjacency> OnGraph::edges(const Worker& worker) const {
  const std::uint64_t seed = worker.training().learning().seed();
  std::vector<int> ranks = living(worker);
  if (made_.edges && made_.ranks == ranks && made_.seed == seed) return made_.edges;
  Adjacency all = leaves_a_rest(worker) ? restricted(drawn(worker.training().world().workers(), seed), ranks)
                                        : drawn(worker.workers(), seed);
  made_ = {.ranks = std::move(ranks), .seed = seed, .edges = std::make_shared<const Adjacency>(std::move(all))};
  return made_.edges;
}

void OnGraph::note_warnings(const Worker& worker) const {
  if (!first_of_all(worker)) return;
  for (const std::string& text : warnings(worker.workers(), worker.training().learning().seed())) worker.training().note(text);
}

void Mixes::describe(base::Describer& d) {
  d.component("mixing", mixing, "the weights of the averages");
  d.flag("lazy", lazy, "whether half of every average is one's own, (I + W) / 2, so that no eigenvalue is negative");
  if (graph.kind() == "support" && mixing.kind() != "file")
    d.refuse("graph", fmt::format("graph = \"support\" is that of a matrix in a file, but mixing is \"{}\"; name another graph, or "
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

std::optional<Strategy::Unfit> Mixes::unfit(const Fit& fit) const {
  if (auto why = OnGraph::unfit(fit)) return why;
  const int P = static_cast<int>(fit.workers);
  if (graph.kind() == "support") {  // the matrix is looked at before its graph
    const std::string why = mixing->unfit(Complete().edges(P, fit.seed));
    if (!why.empty()) return Unfit{"mixing", why};
  }
  const Adjacency all = drawn(P, fit.seed);
  if (const std::string why = mixing->unfit(all); !why.empty()) return Unfit{"mixing", why};
  const std::string why = unsuited(matrix(all, everybody(P)));
  return why.empty() ? std::nullopt : std::optional(Unfit{"mixing", why});
}

std::vector<std::string> Mixes::warnings(std::int64_t workers, std::uint64_t seed) const {
  std::vector<std::string> all = OnGraph::warnings(workers, seed);
  const int P = static_cast<int>(workers);
  if (!matrix(drawn(P, seed), everybody(P)).doubly_stochastic())
    all.push_back(fmt::format("mixing = \"{}\" on this graph has rows that sum to 1 and columns that do not: averaging does not "
                              "preserve the mean, and ranks whose columns sum to more count more in what all converge to; "
                              "\"metropolis\" preserves it",
                              mixing.kind()));
  return all;
}

std::optional<double> Mixes::gap(const MixingMatrix& W) const {
  const double closed = mixing.kind() == "metropolis" && !lazy ? graph->metropolis_gap(W.size()) : -1.0;
  return closed >= 0.0 ? std::optional(closed) : spectral_gap(W);
}

std::shared_ptr<const MixingMatrix> Mixes::matrix(const Worker& worker) const {
  const auto graph_edges = edges(worker);
  if (!W_ || mixed_ != graph_edges) {
    mixed_ = graph_edges;
    W_ = std::make_shared<const MixingMatrix>(matrix(*graph_edges, living(worker)));
  }
  if (worker.comm().rank() == 0) {
    note_warnings(worker);
    if (const auto found = gap(*W_)) worker.training().set_spectral_gap(*found);
    else if (first_of_all(worker))
      worker.training().note("spectral_gap: not reckoned, for the matrix is large and not symmetric");
  }
  return W_;
}

}  // namespace simgrad::strategies

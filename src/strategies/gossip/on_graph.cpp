#include "strategies/gossip/on_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strategies/circumstances.h"
#include "strategies/gossip/graphs/lines.h"
#include "training/worker.h"

namespace simgrad::strategies {

std::vector<int> OnGraph::living(const Worker& worker) {
  std::vector<int> ranks;
  for (int place = 0; place < worker.workers(); ++place) ranks.push_back(worker.number(place));
  return ranks;
}

bool OnGraph::writes_notes(const Worker& worker) { return worker.rank() == 0 && worker.begins_the_run(); }

void OnGraph::report_gap(const Worker& worker, std::optional<double> gap, std::size_t cycle) {
  if (!gap) return;
  if (*gap < 1.0 || cycle == 1) return worker.report_spectral_gap(*gap);
  if (worker.begins_the_run())
    worker.note(fmt::format("spectral_gap: none, because averages with one peer are exact every {} steps", cycle));
}

std::optional<Refusal> OnGraph::refusal(const Circumstances& circumstances) const {
  const std::string why = graph->refusal(static_cast<int>(circumstances.workers));
  return why.empty() ? std::nullopt : std::optional(Refusal{"graph", why});
}

std::vector<std::string> OnGraph::broken(const Adjacency& edges, std::string_view what) {
  const std::vector<int> parts = components(edges);
  const int one_way = strong_components(edges) - static_cast<int>(parts.size());
  std::vector<std::string> all;
  if (parts.size() > 1) {
    constexpr std::size_t shown = 8;
    const std::vector<int> largest(parts.begin(),
                                   parts.begin() + static_cast<std::ptrdiff_t>(std::min(shown, parts.size())));
    all.push_back(
        fmt::format("{} falls into {} parts of {}{} ranks, between which nothing travels: each converges to a mean of "
                    "its own, the consensus distance stays, and the spectral gap is 0",
                    what, parts.size(), fmt::join(largest, ", "), parts.size() > shown ? ", ..." : ""));
  }
  if (one_way > 0)
    all.push_back(
        fmt::format("{} has ranks from which there is no path back: their information is lost to the others; add "
                    "edges back",
                    what));
  return all;
}

std::vector<std::string> OnGraph::warnings(std::int64_t P, std::uint64_t seed) const {
  if (!graph->refusal(static_cast<int>(P)).empty()) return {};  // no such graph exists, and the run refuses it
  return broken(drawn(static_cast<int>(P), seed), "the graph");
}

bool OnGraph::leaves_a_rest(const Worker& worker) const {
  const int P = worker.workers();
  return P < worker.all_workers() && (graph->of_named_ranks() || !graph->refusal(P).empty());
}

void OnGraph::describe_graph(base::Describer& d) {
  d.component("graph", graph, "the ranks that exchange with each other; cluster.topology is the cabling");
  if (graph.kind() == "support" && !mixes())
    d.refuse("graph",
             "graph = \"support\" is that of a mixing matrix in a file, but this strategy has no mixing matrix; name "
             "another "
             "graph, or write the edges down for graph = { kind = \"file\", path = \"...\" }");
  describe_hosts_first(d);
}

std::shared_ptr<const Adjacency> OnGraph::edges(const Worker& worker) const {
  const std::uint64_t seed = worker.seed();
  if (writes_notes(worker))
    for (const std::string& text : warnings(worker.workers(), seed)) worker.note(text);
  std::vector<int> ranks = living(worker);
  if (made_.edges && made_.ranks == ranks && made_.seed == seed) return made_.edges;
  Adjacency all =
      leaves_a_rest(worker) ? restricted(drawn(worker.all_workers(), seed), ranks) : drawn(worker.workers(), seed);
  made_ = {.ranks = std::move(ranks), .seed = seed, .edges = std::make_shared<const Adjacency>(std::move(all))};
  return made_.edges;
}

}  // namespace simgrad::strategies

#include "strategies/gossip/mixing/rules.h"

#include <algorithm>
#include <cmath>

namespace simgrad::strategies {

namespace {

/// weight(i, j): W_ij for j from whom i receives. A rank's own is what is left of 1.
template <class Weight>
MixingMatrix matrix_of(const Adjacency& edges, Weight weight) {
  MixingMatrix W;
  const Adjacency from = sources(edges);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    MixingRow row{.neighbours = from[i], .weights = {}, .targets = edges[i]};
    std::ranges::sort(row.targets);
    double left = 1.0;
    for (const int j : row.neighbours) left -= row.weights.emplace_back(weight(i, static_cast<std::size_t>(j)));
    // On a regular graph all weights are the same number, bit for bit, so that a complete graph's replicas are equal.
    if (!row.weights.empty() && std::abs(left - row.weights.front()) < 1e-12) left = row.weights.front();
    const auto own = std::ranges::lower_bound(row.neighbours, static_cast<int>(i)) - row.neighbours.begin();
    row.weights.insert(row.weights.begin() + own, left);
    W.rows.push_back(std::move(row));
  }
  return W;
}

double share(std::size_t degree) { return 1.0 / (1.0 + static_cast<double>(degree)); }

bool both_ways(const Adjacency& edges, const Adjacency& from) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::vector<int> to = edges[i];
    std::ranges::sort(to);
    if (to != from[i]) return false;
  }
  return true;
}

bool regular(const Adjacency& edges, const Adjacency& from) {
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges[i].size() != edges[0].size() || from[i].size() != edges[0].size()) return false;
  return true;
}

}  // namespace

std::string Metropolis::refusal(const Adjacency& edges) const {
  const Adjacency from = sources(edges);
  if (both_ways(edges, from) || regular(edges, from)) return {};
  return "some edges of the graph lead one way only, and its degrees differ, so that these weights would not preserve "
         "the mean; "
         "use a graph whose edges lead both ways, mixing = \"uniform\", or the strategy sgp, which puts the mean right";
}

MixingMatrix Metropolis::matrix(const Adjacency& edges, std::span<const int>) const {
  const Adjacency from = sources(edges);
  return matrix_of(edges,
                   [&](std::size_t i, std::size_t j) { return share(std::max(from[i].size(), from[j].size())); });
}

MixingMatrix Uniform::matrix(const Adjacency& edges, std::span<const int>) const {
  const Adjacency from = sources(edges);
  return matrix_of(edges, [&](std::size_t i, std::size_t) { return share(from[i].size()); });
}

MixingMatrix MaxDegree::matrix(const Adjacency& edges, std::span<const int>) const {
  std::size_t most = 0;
  for (const auto& all : sources(edges)) most = std::max(most, all.size());
  return matrix_of(edges, [&](std::size_t, std::size_t) { return share(most); });
}

}  // namespace simgrad::strategies

#include "strategies/gossip/graphs/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace simgrad::strategies {

namespace {

bool joined(const Adjacency& edges, int i, int j) {
  const auto& own = edges[static_cast<std::size_t>(i)];
  return std::ranges::find(own, j) != own.end();
}

void join(Adjacency& edges, int i, int j) {
  edges[static_cast<std::size_t>(i)].push_back(j);
  edges[static_cast<std::size_t>(j)].push_back(i);
}

void sort_all(Adjacency& edges) {
  for (auto& own : edges) std::ranges::sort(own);
}

/// One attempt; nothing when no two free ends can be joined any more.
Adjacency drawn_regular(int P, int degree, base::Stream& stream) {
  Adjacency edges(static_cast<std::size_t>(P));
  std::vector<int> ends;
  for (int i = 0; i < P; ++i) ends.insert(ends.end(), static_cast<std::size_t>(degree), i);
  const auto take = [&](std::size_t at) {
    ends[at] = ends.back();
    ends.pop_back();
  };
  int refused = 0;
  while (!ends.empty()) {
    const std::size_t a = stream.below(ends.size()), b = stream.below(ends.size());
    const int i = ends[a], j = ends[b];
    if (i == j || joined(edges, i, j)) {
      if (++refused > 100 + 2 * degree * degree) return {};
      continue;
    }
    refused = 0;
    join(edges, i, j);
    take(std::max(a, b));
    take(std::min(a, b));
  }
  return edges;
}

Adjacency complement(const Adjacency& edges) {
  Adjacency rest(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (std::size_t j = 0; j < edges.size(); ++j)
      if (j != i && !joined(edges, static_cast<int>(i), static_cast<int>(j))) rest[i].push_back(static_cast<int>(j));
  return rest;
}

}  // namespace

void RandomRegular::describe(base::Describer& d) {
  d.integer("degree", degree, "the number of neighbours of every rank", base::Bounds::at_least(1));
}

std::string RandomRegular::refusal(int P) const {
  if (P == 1) return {};
  if (degree >= P) return fmt::format("degree = {} on {} workers; expected at most {}, all others", degree, P, P - 1);
  if (degree * P % 2 == 0) return {};
  return fmt::format("degree = {} on {} workers: an edge has two ends, so that one of the two numbers must be even",
                     degree, P);
}

Adjacency RandomRegular::edges(int P, std::uint64_t seed) const {
  if (P == 1) return Adjacency(1);
  const int k = static_cast<int>(degree);
  const bool dense = 2 * k > P - 1;  // a graph of few edges is drawn more quickly: its missing edges are the ones here
  for (std::uint64_t attempt = 0;; ++attempt) {
    base::Stream stream({.seed = seed, .purpose = base::Purpose::graph, .step = attempt});
    Adjacency drawn = drawn_regular(P, dense ? P - 1 - k : k, stream);
    if (drawn.empty()) continue;
    if (dense) drawn = complement(drawn);
    sort_all(drawn);
    return drawn;
  }
}

void ErdosRenyi::describe(base::Describer& d) {
  d.number("probability", probability, "probability of each edge", base::Bounds::between(0, 1));
}

Adjacency ErdosRenyi::edges(int P, std::uint64_t seed) const {
  Adjacency drawn(static_cast<std::size_t>(P));
  base::Stream stream({.seed = seed, .purpose = base::Purpose::graph});
  for (int i = 0; i < P; ++i)
    for (int j = i + 1; j < P; ++j)
      if (stream.uniform() < probability) join(drawn, i, j);
  sort_all(drawn);
  return drawn;
}

std::int64_t ErdosRenyi::edges_if_many(int P) const {
  return std::llround(probability * static_cast<double>(P) * (P - 1));
}

}  // namespace simgrad::strategies

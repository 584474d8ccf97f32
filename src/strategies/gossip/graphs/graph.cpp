#include "strategies/gossip/graphs/graph.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace simgrad::strategies {

Adjacency restricted(const Adjacency& edges, std::span<const int> ranks) {
  std::vector<int> place(edges.size(), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) place[static_cast<std::size_t>(ranks[i])] = static_cast<int>(i);
  Adjacency left(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (const int j : edges[static_cast<std::size_t>(ranks[i])])
      if (const int at = place[static_cast<std::size_t>(j)]; at >= 0) left[i].push_back(at);
  return left;
}

Adjacency sources(const Adjacency& edges) {
  Adjacency from(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (const int j : edges[i]) from[static_cast<std::size_t>(j)].push_back(static_cast<int>(i));
  return from;
}

std::vector<int> components(const Adjacency& edges) {
  std::vector<std::size_t> leader(edges.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](std::size_t i) {
    while (leader[i] != i) i = leader[i] = leader[leader[i]];
    return i;
  };
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (const int j : edges[i]) leader[find(i)] = find(static_cast<std::size_t>(j));
  std::vector<int> count(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) ++count[find(i)];
  std::erase(count, 0);
  std::ranges::sort(count, std::greater<>());
  return count;
}

int strong_components(const Adjacency& edges) {
  // S. R. Kosaraju's: in the reverse of the order in which a search leaves them, each search against the edges finds
  // one.
  const auto search = [](const Adjacency& graph, std::size_t root, std::vector<char>& seen,
                         std::vector<std::size_t>& left) {
    std::vector<std::pair<std::size_t, std::size_t>> way{{root, 0}};
    seen[root] = 1;
    while (!way.empty()) {
      auto& [i, next] = way.back();
      if (next == graph[i].size()) {
        left.push_back(i);
        way.pop_back();
      } else if (const auto j = static_cast<std::size_t>(graph[i][next++]); !seen[j]) {
        seen[j] = 1;
        way.emplace_back(j, 0);
      }
    }
  };
  std::vector<std::size_t> left, within;
  std::vector<char> seen(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (!seen[i]) search(edges, i, seen, left);
  const Adjacency from = sources(edges);
  seen.assign(edges.size(), 0);
  int count = 0;
  for (std::size_t at = left.size(); at-- > 0;) {
    if (seen[left[at]]) continue;
    search(from, left[at], seen, within);
    ++count;
  }
  return count;
}

}  // namespace simgrad::strategies

#include "strategies/gossip/graphs/lines.h"

#include <cmath>
#include <numbers>

namespace simgrad::strategies {

Adjacency Ring::edges(int P, std::uint64_t seed) const {
  if (P < 3) return Path().edges(P, seed);
  Adjacency all;
  for (int i = 0; i < P; ++i) all.push_back({(i + 1) % P, (i + P - 1) % P});
  return all;
}

std::optional<Graph::Extremes> Ring::metropolis_extremes(int P) const {
  if (P <= 2) return Extremes{1.0, 0.0};
  const auto eigenvalue = [P](int k) { return (1.0 + 2.0 * std::cos(2.0 * std::numbers::pi * k / P)) / 3.0; };
  return Extremes{1.0 - eigenvalue(1), eigenvalue(P / 2)};
}

std::optional<Graph::Extremes> Path::metropolis_extremes(int P) const {
  if (P <= 2) return Extremes{1.0, 0.0};
  // All edges weigh a third: W = I - L / 3, and L has the eigenvalues 2 - 2 cos(pi k / P).
  return Extremes{2.0 / 3.0 * (1.0 - std::cos(std::numbers::pi / P)),
                  (1.0 - 2.0 * std::cos(std::numbers::pi / P)) / 3.0};
}

Adjacency Path::edges(int P, std::uint64_t) const {
  Adjacency all(static_cast<std::size_t>(P));
  for (int i = 0; i < P; ++i) {
    if (i > 0) all[static_cast<std::size_t>(i)].push_back(i - 1);
    if (i + 1 < P) all[static_cast<std::size_t>(i)].push_back(i + 1);
  }
  return all;
}

Adjacency StarGraph::edges(int P, std::uint64_t) const {
  Adjacency all(static_cast<std::size_t>(P));
  for (int i = 1; i < P; ++i) {
    all[0].push_back(i);
    all[static_cast<std::size_t>(i)].push_back(0);
  }
  return all;
}

Adjacency Complete::edges(int P, std::uint64_t) const {
  Adjacency all(static_cast<std::size_t>(P));
  for (int i = 0; i < P; ++i)
    for (int hop = 1; hop < P; ++hop) all[static_cast<std::size_t>(i)].push_back((i + hop) % P);
  return all;
}

}  // namespace simgrad::strategies

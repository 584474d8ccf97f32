#include "strategies/graphs/lines.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace simgrad::strategies {

Adjacency Ring::edges(int P, std::uint64_t seed) const {
  Adjacency all = Path().edges(P, seed);
  if (P < 3) return all;
  all.front().push_back(P - 1);
  all.back().insert(all.back().begin(), 0);
  return all;
}

double Ring::metropolis_gap(int P) const {
  if (P <= 2) return 1.0;
  // The eigenvalues are (1 + 2 cos(2 pi k / P)) / 3.
  double largest = 0.0;
  for (int k = 1; k < P; ++k)
    largest = std::max(largest, std::abs((1.0 + 2.0 * std::cos(2.0 * std::numbers::pi * k / P)) / 3.0));
  return 1.0 - largest;
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
    for (int j = 0; j < P; ++j)
      if (j != i) all[static_cast<std::size_t>(i)].push_back(j);
  return all;
}

}  // namespace simgrad::strategies

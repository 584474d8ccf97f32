#include "strategies/gossip/graphs/powers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace simgrad::strategies {

std::string Hypercube::refusal(int P) const {
  if (std::has_single_bit(static_cast<unsigned>(P))) return {};
  const unsigned below = std::bit_floor(static_cast<unsigned>(P));
  return fmt::format("a hypercube has 2^k ranks, but there are {} workers; take {} or {}, or another graph", P, below,
                     2 * below);
}

Adjacency Hypercube::edges(int P, std::uint64_t) const {
  Adjacency all(static_cast<std::size_t>(P));
  for (int i = 0; i < P; ++i)
    for (int bit = 1; bit < P; bit *= 2) all[static_cast<std::size_t>(i)].push_back(i ^ bit);
  return all;
}

std::optional<Graph::Extremes> Hypercube::metropolis_extremes(int P) const {
  const double k = std::countr_zero(static_cast<unsigned>(P));
  return Extremes{2.0 / (k + 1.0), (1.0 - k) / (k + 1.0)};
}

void Exponential::describe(base::Describer& d) {
  d.flag("directed", one_way, "whether rank i only sends to i + 2^k and receives from i - 2^k");
}

Adjacency Exponential::edges(int P, std::uint64_t) const {
  Adjacency all(static_cast<std::size_t>(P));
  for (int i = 0; i < P; ++i) {
    std::vector<int>& own = all[static_cast<std::size_t>(i)];
    const auto add = [&](int j) {
      if (j != i && std::ranges::find(own, j) == own.end()) own.push_back(j);
    };
    for (std::int64_t hop = 1; hop < P; hop *= 2) {
      add(static_cast<int>((i + hop) % P));
      if (!one_way) add(static_cast<int>((i + P - hop) % P));
    }
  }
  return all;
}

}  // namespace simgrad::strategies

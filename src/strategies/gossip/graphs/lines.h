/// Graphs in one dimension, and those with a rank in the middle or none: ring, path, star, complete.
#pragma once

#include "strategies/gossip/graphs/graph.h"

namespace simgrad::strategies {

struct Ring : Graph {
  static constexpr base::About about{.kind = "ring",
                                     .summary = "the previous and the next rank",
                                     .cost = "degree 2; gap 1 - (1 + 2 cos(2 pi / P)) / 3 for P of 4 or more",
                                     .source = ""};
  bool few_neighbours() const override { return true; }
  Adjacency edges(int P, std::uint64_t seed) const override;
  std::optional<Extremes> metropolis_extremes(int P) const override;
};

struct Path : Graph {
  static constexpr base::About about{
      .kind = "path",
      .summary = "a ring that is open between the last rank and the first",
      .cost = "degree 2, 1 at the ends; gap (2 / 3) (1 - cos(pi / P)) for P of 3 or more",
      .source = ""};
  bool few_neighbours() const override { return true; }
  Adjacency edges(int P, std::uint64_t seed) const override;
  std::optional<Extremes> metropolis_extremes(int P) const override;
};

struct StarGraph : Graph {
  static constexpr base::About about{
      .kind = "star", .summary = "every rank with rank 0", .cost = "degree P - 1 and 1; gap 1 / P", .source = ""};
  Adjacency edges(int P, std::uint64_t seed) const override;
  std::optional<Extremes> metropolis_extremes(int P) const override { return Extremes{P <= 2 ? 1.0 : 1.0 / P, 0.0}; }
};

struct Complete : Graph {
  static constexpr base::About about{
      .kind = "complete", .summary = "every rank with every other", .cost = "degree P - 1; gap 1", .source = ""};
  Adjacency edges(int P, std::uint64_t seed) const override;
  std::optional<Extremes> metropolis_extremes(int) const override { return Extremes{1.0, 0.0}; }
  std::int64_t edges_if_many(int P) const override { return static_cast<std::int64_t>(P) * (P - 1); }
};

}  // namespace simgrad::strategies

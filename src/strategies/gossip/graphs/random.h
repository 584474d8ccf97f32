/// Random graphs by the run's seed: strategies of one seed and one option have one graph.
#pragma once

#include <algorithm>

#include "strategies/gossip/graphs/graph.h"

namespace simgrad::strategies {

/// Source: A. Steger, N. C. Wormald, "Generating random regular graphs quickly", Combinatorics, Probability and
/// Computing 8, 1999: pairs of free ends are joined, unless that made a loop or a second edge; when stuck, all again.
struct RandomRegular : Graph {
  static constexpr base::About about{.kind = "random_regular",
                                     .summary = "drawn among the graphs in which every rank has `degree` neighbours",
                                     .cost = "degree as given",
                                     .source = "A. Steger, N. Wormald, Generating random regular graphs quickly, 1999"};
  std::int64_t degree = 3;

  void describe(base::Describer& d) override;
  std::string refusal(int P) const override;
  Adjacency edges(int P, std::uint64_t seed) const override;
  std::int64_t edges_if_many(int P) const override { return P * std::min<std::int64_t>(degree, P - 1); }
};

struct ErdosRenyi : Graph {
  static constexpr base::About about{
      .kind = "erdos_renyi",
      .summary = "every pair of ranks is joined with the same probability",
      .cost = "degree (P - 1) probability on average; connected as a rule above ln P / P",
      .source = "E. N. Gilbert, Random Graphs, 1959; P. Erdos, A. Renyi, On Random Graphs I, 1959"};
  double probability = 0.5;

  void describe(base::Describer& d) override;
  Adjacency edges(int P, std::uint64_t seed) const override;
  std::int64_t edges_if_many(int P) const override;
};

}  // namespace simgrad::strategies

/// Graphs that cross P ranks in about log2 P hops: hypercube and exponential.
#pragma once

#include "strategies/gossip/graphs/graph.h"

namespace simgrad::strategies {

struct Hypercube : Graph {
  static constexpr base::About about{.kind = "hypercube",
                                     .summary = "2^k ranks; those whose numbers differ in one binary digit",
                                     .cost = "degree log2 P; gap 2 / (log2 P + 1)",
                                     .source = ""};
  std::string refusal(int P) const override;
  Adjacency edges(int P, std::uint64_t seed) const override;
  std::optional<Extremes> metropolis_extremes(int P) const override;
};

struct Exponential : Graph {
  static constexpr base::About about{
      .kind = "exponential",
      .summary = "rank i with i + 1, i + 2, i + 4, ... around the ring",
      .cost =
          "degree about 2 log2 P, directed ceil(log2 P); directed under uniform weights, P even: gap 2 / (ceil(log2 P) "
          "+ 1)",
      .source = "B. Ying et al., Exponential Graph is Provably Efficient for Decentralized Deep Training, 2021"};
  bool one_way = false;

  void describe(base::Describer& d) override;
  bool directed() const override { return one_way; }
  Adjacency edges(int P, std::uint64_t seed) const override;
};

}  // namespace simgrad::strategies

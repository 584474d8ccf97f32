/// Mixing matrices that follow from the degrees.
///
/// Source: L. Xiao, S. Boyd, "Fast linear iterations for distributed averaging", Systems & Control Letters 53, 2004.
#pragma once

#include "strategies/gossip/mixing/matrix.h"

namespace simgrad::strategies {

/// W_ij = 1 / (1 + max(deg i, deg j)), W_ii what is left: symmetric and doubly stochastic on every graph whose edges
/// lead both ways.
struct Metropolis : Mixing {
  static constexpr base::About about{
      .kind = "metropolis",
      .summary = "1 / (1 + the larger of two neighbours' degrees), oneself what is left",
      .cost = "",
      .source = "L. Xiao, S. Boyd, Fast linear iterations for distributed averaging, 2004"};
  std::string refusal(const Adjacency& edges) const override;
  MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const override;
};

struct Uniform : Mixing {
  static constexpr base::About about{
      .kind = "uniform",
      .summary = "1 / (degree + 1) for each neighbour and oneself; preserves the mean only if all degrees are equal",
      .cost = "",
      .source = ""};
  MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const override;
};

struct MaxDegree : Mixing {
  static constexpr base::About about{
      .kind = "max_degree",
      .summary = "1 / (1 + the largest degree of all), oneself what is left",
      .cost = "",
      .source = "L. Xiao, S. Boyd, Fast linear iterations for distributed averaging, 2004"};
  std::string refusal(const Adjacency& edges) const override { return Metropolis().refusal(edges); }
  MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const override;
};

}  // namespace simgrad::strategies

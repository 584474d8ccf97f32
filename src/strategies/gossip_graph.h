/// Who gossips with whom, and with which weights.
#pragma once

#include <span>
#include <vector>

#include "base/describe.h"

namespace simgrad::strategies {

enum class Graph { ring, complete, star };
std::span<const base::Choice> graph_choices();

/// Row i of the mixing matrix W: Metropolis weights, W_ij = 1 / (1 + max(deg i, deg j)), W_ii what is left. W is
/// symmetric and doubly stochastic, so that gossip preserves the mean.
/// Source: L. Xiao, S. Boyd, "Fast linear iterations for distributed averaging", 2004.
struct Mixing {
  std::vector<int> neighbours;  ///< ascending, without i
  std::vector<double> weights;  ///< of the neighbours and i together, in the order of ranks
};
Mixing mixing(Graph graph, int P, int i);

/// 1 - max(|lambda_2|, |lambda_P|) of W in closed form: how fast disagreement dies out.
double spectral_gap(Graph graph, int P);

}  // namespace simgrad::strategies

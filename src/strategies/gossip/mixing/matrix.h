/// The weights by which ranks average: the mixing matrix W of x_i <- sum_j W_ij x_j.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strategies/gossip/graphs/graph.h"

namespace simgrad::strategies {

/// One rank's exchanges, and the weights of its average.
struct MixingRow {
  std::vector<int> neighbours;  ///< the ranks that send to it, ascending, without itself
  std::vector<double> weights;  ///< for the neighbours and itself together, in the order of ranks; they sum to 1
  std::vector<int> targets;  ///< the ranks to which it sends, ascending; the neighbours where all edges lead both ways
};

struct MixingMatrix {
  std::vector<MixingRow> rows;

  int size() const { return static_cast<int>(rows.size()); }
  double entry(int i, int j) const;
  /// Whether the columns sum to 1 as well, so that averaging preserves the mean.
  bool doubly_stochastic() const;
  bool symmetric() const;
  /// The edges whose entries are not 0.
  Adjacency support() const;
  /// (I + W) / 2, none of whose eigenvalues is negative if W is symmetric.
  MixingMatrix lazy() const;
};

/// The matrices of successive steps, which begin again after the last one; a single one where all steps are alike.
using MixingTurns = std::vector<MixingMatrix>;

/// Scales the weights of the remaining ranks of an average to sum to 1; if their sum is 0, all count equally.
void normalize(std::vector<double>& weights);

/// A rule that gives W to a graph.
class Mixing : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// The reason why it has no matrix for that graph; empty if it has.
  virtual std::string refusal(const Adjacency& /*edges*/) const { return {}; }
  /// ranks: the scenario's numbers of the graph's ranks, in their order; some may be lost.
  virtual MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const = 0;
  /// The graph, where the matrix defines it.  Errors: ScenarioError `file:line:column: ...`.
  virtual std::optional<Adjacency> support(int /*P*/) const { return {}; }
};

/// metropolis, uniform, max_degree, file
const base::Registry<Mixing>& mixings();

}  // namespace simgrad::strategies

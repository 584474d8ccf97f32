/// The graph of the ranks that exchange with each other; the cluster's topology is the cabling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::strategies {

/// The ranks to which each rank sends, without itself, in the order in which a one-peer scheme goes through them: on
/// a graph that looks alike from all ranks, so that in each turn every rank hears from one other.
using Adjacency = std::vector<std::vector<int>>;

class Graph : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// The reason why there is no such graph on P ranks; empty if there is. On one rank there is every graph.
  virtual std::string refusal(int /*P*/) const { return {}; }
  /// seed: of random graphs.  Errors: ScenarioError `file:line:column: ...` for a fault in a file.
  virtual Adjacency edges(int P, std::uint64_t seed) const = 0;
  /// Whether some edges may lead one way only.
  virtual bool directed() const { return false; }
  /// Whether no rank has more than four neighbours, however many ranks there are.
  virtual bool few_neighbours() const { return false; }
  /// The number of edges, each way, where it may grow with the square of the ranks, known before they are drawn (of a
  /// random graph: on average); else 0.
  virtual std::int64_t edges_if_many(int /*P*/) const { return 0; }
  /// Whether the graph names the scenario's ranks. When some of them are lost, the graph is cut down to the others; no
  /// smaller graph of its kind is made.
  virtual bool of_named_ranks() const { return false; }
  /// Eigenvalues of W under Metropolis weights, for two ranks or more.
  struct Extremes {
    double below_one = 0.0;  ///< 1 - lambda_2
    double least = 0.0;      ///< lambda_P
  };
  /// Nothing where they are not known in closed form.
  virtual std::optional<Extremes> metropolis_extremes(int /*P*/) const { return {}; }
};

/// ring, path, star, complete, grid_2d, torus_2d, hypercube, exponential, random_regular, erdos_renyi, file, support
const base::Registry<Graph>& graphs();

/// The graph's edges among these ranks alone, numbered anew in their order.
Adjacency restricted(const Adjacency& edges, std::span<const int> ranks);
/// The ranks that send to each rank, ascending.
Adjacency sources(const Adjacency& edges);
/// The sizes of the weakly connected components, the largest first.
std::vector<int> components(const Adjacency& edges);
/// The number of strongly connected components.
int strong_components(const Adjacency& edges);

}  // namespace simgrad::strategies

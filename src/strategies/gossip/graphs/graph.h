/// Who gossips with whom; not the cabling, which is the cluster's topology.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::strategies {

/// To whom each rank sends, without itself, in the order in which a one-peer scheme goes through them.
using Adjacency = std::vector<std::vector<int>>;

class Graph : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// Why there is no such graph on P ranks; nothing if there is. On one rank there is every graph.
  virtual std::string refusal(int /*P*/) const { return {}; }
  /// seed: decides what is drawn.  Errors: ScenarioError `file:line:column: ...` for what stands in a file.
  virtual Adjacency edges(int P, std::uint64_t seed) const = 0;
  /// Whether some edges may lead one way only.
  virtual bool directed() const { return false; }
  /// Whether it names the scenario's ranks: with some of them lost it is what is left of it, and not a smaller graph of
  /// its kind.
  virtual bool of_named_ranks() const { return false; }
  /// Of W under Metropolis weights, of two ranks or more.
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
/// From whom each rank receives, ascending.
Adjacency sources(const Adjacency& edges);
/// How many ranks each part has within which all are joined, whichever way the edges lead; the largest first.
std::vector<int> components(const Adjacency& edges);
/// How many parts it has within each of which everybody reaches everybody, along the edges.
int strong_components(const Adjacency& edges);

}  // namespace simgrad::strategies

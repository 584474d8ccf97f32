/// What strategies without servers and global sums have in common: a graph, and a matrix of weights on it.
#pragma once

#include <memory>

#include "strategies/gossip/mixing/matrix.h"
#include "strategies/gossip/mixing/spectrum.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// Ranks that exchange along the edges of a graph.
struct OnGraph : Strategy {
  base::Slot<Graph> graph{graphs(), "ring"};

  bool replicas_differ() const override { return true; }
  bool many_to_many() const override { return true; }
  std::optional<Unfit> unfit(const Fit& fit) const override;
  std::vector<std::string> warnings(std::int64_t workers, std::uint64_t seed) const override;

  /// To whom each of the living workers sends, made once for all of them. A graph that has no form of their number, or
  /// names the scenario's ranks, is what the loss of the others leaves of it.
  std::shared_ptr<const Adjacency> edges(const Worker& worker) const;

 protected:
  /// On all of the scenario's P ranks.
  virtual Adjacency drawn(int P, std::uint64_t seed) const { return graph->edges(P, seed); }
  void describe_graph(base::Describer& d);
  /// Whether a matrix may say the graph.
  virtual bool mixes() const { return false; }
  /// What a user is warned of, where ranks exchange along those edges.
  static std::vector<std::string> broken(const Adjacency& edges, std::string_view what);
  /// The first rank of the first generation says in the run's notes what a user is warned of.
  void note_warnings(const Worker& worker) const;
  /// Whether the living are to be seen as what is left of the scenario's ranks.
  bool leaves_a_rest(const Worker& worker) const;

 private:
  struct Made {
    std::vector<int> ranks;
    std::uint64_t seed = 0;
    std::shared_ptr<const Adjacency> edges;
  };
  mutable Made made_;  ///< the last one
};

/// Ranks that average with their neighbours by a mixing matrix.
struct Mixes : OnGraph {
  base::Slot<Mixing> mixing{mixings(), "metropolis"};
  bool lazy = false;

  void describe(base::Describer& d) override;
  std::optional<Unfit> unfit(const Fit& fit) const override;
  std::vector<std::string> warnings(std::int64_t workers, std::uint64_t seed) const override;

  /// Of the living workers, made once for all of them. The first rank of the first generation notes warnings and the
  /// spectral gap.
  std::shared_ptr<const MixingMatrix> matrix(const Worker& worker) const;

 protected:
  void describe_mixing(base::Describer& d);
  bool mixes() const override { return true; }
  Adjacency drawn(int P, std::uint64_t seed) const override;
  MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const;
  /// In closed form where there is one and the matrix is large.
  std::optional<Spectrum> spectrum_of(const MixingMatrix& W) const;
  /// Why it does not do with that matrix; nothing if it does.
  virtual std::string unsuited(const MixingMatrix& /*W*/) const { return {}; }

 private:
  std::optional<Graph::Extremes> extremes(int P) const;
  std::optional<double> gap(const MixingMatrix& W) const;

  mutable std::shared_ptr<const Adjacency> mixed_;  ///< the graph of the last matrix
  mutable std::shared_ptr<const MixingMatrix> W_;
};

}  // namespace simgrad::strategies

/// The common part of strategies without servers and global sums: a graph, and a matrix of weights on it.
#pragma once

#include <memory>

#include "strategies/gossip/mixing/matrix.h"
#include "strategies/gossip/mixing/spectrum.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// Ranks that exchange along the edges of a graph.
struct OnGraph : Strategy {
  base::Slot<Graph> graph{graphs(), "ring"};

  Traits traits(int /*P*/) const override { return {.replicas_differ = true, .many_to_many = true}; }
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;

  /// The members to whom each of the living workers sends, made once for all of them. A graph that has no form with
  /// their number, or names the scenario's ranks, is the rest that the loss of the others leaves. The first rank of the
  /// first generation notes the warnings.
  std::shared_ptr<const Adjacency> edges(const Worker& worker) const;

 protected:
  /// The graph on all of the scenario's P ranks.
  virtual Adjacency drawn(int P, std::uint64_t seed) const { return graph->edges(P, seed); }
  void describe_graph(base::Describer& d);
  /// Whether the graph may be the one of a mixing matrix.
  virtual bool mixes() const { return false; }
  /// The warnings for ranks that exchange along those edges.
  static std::vector<std::string> broken(const Adjacency& edges, std::string_view what);
  /// Whether the graph of the living ranks is the scenario's graph without the lost ones.
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
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;

  /// The matrix of the living workers, made once for all of them. The first of them reports its spectral gap.
  std::shared_ptr<const MixingMatrix> matrix(const Worker& worker) const;

 protected:
  void describe_mixing(base::Describer& d);
  bool mixes() const override { return true; }
  Adjacency drawn(int P, std::uint64_t seed) const override;
  MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const;
  /// In closed form where there is one and the matrix is large.
  std::optional<Spectrum> spectrum_of(const MixingMatrix& W) const;
  /// The reason why it cannot average by that matrix; empty if it can.
  virtual std::string matrix_refusal(const MixingMatrix& /*W*/) const { return {}; }

 private:
  std::optional<Graph::Extremes> extremes(int P) const;
  std::optional<double> gap(const MixingMatrix& W) const;

  mutable std::shared_ptr<const Adjacency> mixed_;  ///< the graph of the last matrix
  mutable std::shared_ptr<const MixingMatrix> W_;
};

}  // namespace simgrad::strategies

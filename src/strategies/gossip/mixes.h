/// The common part of strategies that average with their neighbours: a graph, and a matrix of weights on it.
#pragma once

#include <memory>

#include "strategies/gossip/mixing/spectrum.h"
#include "strategies/gossip/on_graph.h"

namespace simgrad::strategies {

/// Ranks that average with their neighbours by a mixing matrix.
struct Mixes : OnGraph {
  base::Slot<Mixing> mixing{mixings(), "metropolis"};
  bool lazy = false;

  void describe(base::Describer& d) override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;

  /// The matrices of the living workers, made once for all of them. The first of them reports their spectral gap.
  std::shared_ptr<const MixingTurns> matrices(const Worker& worker) const;

 protected:
  void describe_mixing(base::Describer& d);
  bool mixes() const override { return true; }
  Adjacency drawn(int P, std::uint64_t seed) const override;
  MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const;
  /// The matrices of successive steps on that graph.
  virtual MixingTurns turns(const std::shared_ptr<const Adjacency>& edges, std::span<const int> ranks) const;
  /// In closed form where there is one and the matrix is large.
  std::optional<Spectrum> spectrum_of(const MixingMatrix& W) const;
  /// The reason why it cannot average by that matrix; empty if it can.
  virtual std::string matrix_refusal(const MixingMatrix& /*W*/) const { return {}; }

 private:
  std::optional<Graph::Extremes> extremes(int P) const;
  void report_gap_of(const Worker& worker, const MixingTurns& W) const;

  mutable std::shared_ptr<const Adjacency> mixed_;  ///< the graph of the last matrices
  mutable std::shared_ptr<const MixingTurns> W_;
};

}  // namespace simgrad::strategies

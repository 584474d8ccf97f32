/// The targets of a rank that pushes to its neighbours, step by step.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "strategies/gossip/mixing/matrix.h"

namespace simgrad::strategies {

/// The ranks to which a rank sends in a step, and those from which it receives.
struct PushPeers {
  std::vector<int> targets, sources;
};

/// Pushes along a directed graph: to every neighbour in each step, or to one neighbour a step, to each in turn.
class PushTurns {
 public:
  PushTurns(std::shared_ptr<const Adjacency> edges, bool one_peer);

  const std::shared_ptr<const Adjacency>& edges() const { return to_; }

  /// The ranks from which a rank receives in some step; ascending.
  const std::vector<int>& sources(int rank) const { return from_[static_cast<std::size_t>(rank)]; }
  PushPeers peers(int rank, std::int64_t step) const;
  /// The matrices of equal shares over one cycle of steps; none where the cycle is long, as that of graphs whose
  /// degrees have little in common.
  MixingTurns matrices() const;
  /// 1 - second^(1/n), as spectral_gap_of_turns has it, of those n matrices; nothing where there are none.
  std::optional<double> spectral_gap() const;
  /// The number of steps after which the targets are those of the first one again.
  std::size_t cycle() const;

 private:
  static constexpr std::size_t cycle_max = 64;
  MixingMatrix shares(std::int64_t step) const;

  std::shared_ptr<const Adjacency> to_;
  Adjacency from_;
  bool one_peer_;
};

}  // namespace simgrad::strategies

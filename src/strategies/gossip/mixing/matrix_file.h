/// A mixing matrix that is written down.
#pragma once

#include <string>

#include "strategies/gossip/mixing/matrix.h"

namespace simgrad::strategies {

/// P lines of P numbers, separated by commas or blanks; # begins a comment. Rows must sum to 1 (to 1e-9), and an entry
/// other than 0 stands only where the graph has an edge from the column's rank to the row's.
struct MatrixFile : Mixing {
  static constexpr base::About about{.kind = "file",
                                     .summary =
                                         "a P x P matrix from a file, one row per line; rows sum to 1, and it has "
                                         "entries only where the graph has edges",
                                     .cost = "",
                                     .source = ""};
  std::string path;

  void describe(base::Describer& d) override;
  std::string refusal(const Adjacency& edges) const override;
  /// Rows of a part of the ranks are scaled to sum to 1.
  MixingMatrix matrix(const Adjacency& edges, std::span<const int> ranks) const override;
  std::optional<Adjacency> support(int P) const override;
};

}  // namespace simgrad::strategies

/// Graphs of two dimensions: rank i stands in row i / columns and column i % columns.
#pragma once

#include <optional>

#include "strategies/gossip/graphs/graph.h"

namespace simgrad::strategies {

struct Grid2d : Graph {
  static constexpr base::About about{
      .kind = "grid_2d",
      .summary = "rows and columns; a rank's neighbours are above, below, left and right of it",
      .cost = "degree 2 to 4",
      .source = ""};
  std::optional<std::int64_t> rows;  ///< none: the divisor of P that is nearest below its root

  void describe(base::Describer& d) override;
  std::string refusal(int P) const override;
  bool few_neighbours() const override { return true; }
  Adjacency edges(int P, std::uint64_t) const override { return grid(P, false); }

 protected:
  Adjacency grid(int P, bool wraps) const;
  /// The number of rows.
  int height(int P) const;
};

struct Torus2d : Grid2d {
  static constexpr base::About about{
      .kind = "torus_2d",
      .summary = "rows and columns, each closed to a ring",
      .cost = "degree 4; gap 1 - (3 + 2 cos(2 pi / n)) / 5, n of 4 or more the longer of rows and columns",
      .source = ""};
  Adjacency edges(int P, std::uint64_t) const override { return grid(P, true); }
  /// Known where rows and columns are three or more each.
  std::optional<Extremes> metropolis_extremes(int P) const override;
};

}  // namespace simgrad::strategies

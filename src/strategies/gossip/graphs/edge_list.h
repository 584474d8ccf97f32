/// Graphs that are written down: edges in a file, or the entries of a mixing matrix.
#pragma once

#include "strategies/gossip/graphs/graph.h"

namespace simgrad::strategies {

/// Lines "i j", two ranks a line; # begins a comment. An edge that is written twice is one.
struct EdgeList : Graph {
  static constexpr base::About about{
      .kind = "file", .summary = "edges from a file: two ranks a line, # begins a comment", .cost = "", .source = ""};
  std::string path;
  bool one_way = false;

  void describe(base::Describer& d) override;
  std::string refusal(int P) const override;
  Adjacency edges(int P, std::uint64_t seed) const override;
  bool directed() const override { return one_way; }
  bool of_named_ranks() const override { return true; }
};

struct Support : Graph {
  static constexpr base::About about{.kind = "support",
                                     .summary = "who has an entry in the matrix of mixing = { kind = \"file\" }",
                                     .cost = "",
                                     .source = ""};
  /// Without the matrix nothing is known of it: see on_graph.h.
  Adjacency edges(int P, std::uint64_t seed) const override;
  bool directed() const override { return true; }
  bool of_named_ranks() const override { return true; }
};

}  // namespace simgrad::strategies

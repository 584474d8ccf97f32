/// The common part of strategies without servers and global sums: a graph.
#pragma once

#include <memory>

#include "strategies/gossip/mixing/matrix.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// Ranks that exchange along the edges of a graph.
struct OnGraph : Strategy {
  base::Slot<Graph> graph{graphs(), "ring"};

  Traits traits(int P) const override {
    return {.replicas_differ = true,
            .many_to_many = true,
            .few_neighbours = graph->few_neighbours(),
            .pairs = graph->edges_if_many(P)};
  }
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
  /// The scenario's numbers of the living workers.
  static std::vector<int> living(const Worker& worker);
  /// Reports how fast disagreement falls by the step, of matrices that begin again after `cycle` steps. Turns that
  /// average exactly together have no such gap, and a note says so.
  static void report_gap(const Worker& worker, std::optional<double> gap, std::size_t cycle);
  /// Whether this rank writes the notes of the whole run.
  static bool writes_notes(const Worker& worker);
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

}  // namespace simgrad::strategies

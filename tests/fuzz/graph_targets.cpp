/// Files of graphs and of mixing matrices.
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/errors.h"
#include "fuzz/targets.h"
#include "strategies/gossip/graphs/edge_list.h"
#include "strategies/gossip/mixing/matrix_file.h"

namespace simgrad::fuzz {

void read_edges(const std::string& bytes) {
  strategies::EdgeList graph;
  graph.path = files().write("graph.edges", bytes);
  std::string refusal;
  for (const int P : {1, 2, 5, 16})
    for (const bool directed : {false, true}) {
      graph.one_way = directed;
      if (std::string why = graph.refusal(P); !why.empty()) {
        refusal = std::move(why);
        continue;
      }
      const strategies::Adjacency edges = graph.edges(P, 1);
      expect(edges.size() == static_cast<std::size_t>(P), "edges are not of P ranks");
      for (const auto& own : edges)
        for (const int to : own) expect(to >= 0 && to < P, "an edge to no rank");
    }
  if (!refusal.empty()) throw base::ScenarioError(refusal);
}

void read_matrix(const std::string& bytes) {
  strategies::MatrixFile mixing;
  mixing.path = files().write("mixing.txt", bytes);
  std::string refusal;
  for (const int P : {1, 2, 3, 4}) try {
      const strategies::Adjacency edges = mixing.support(P).value();
      if (std::string why = mixing.refusal(edges); !why.empty()) {
        refusal = std::move(why);
        continue;
      }
      std::vector<int> ranks(static_cast<std::size_t>(P));
      std::iota(ranks.begin(), ranks.end(), 0);
      for (const auto& row : mixing.matrix(edges, ranks).rows) {
        const double sum = std::accumulate(row.weights.begin(), row.weights.end(), 0.0);
        expect(std::abs(sum - 1.0) < 1e-6, "weights that do not sum to 1");
      }
    } catch (const base::ScenarioError& error) {
      refusal = error.what();
    }
  if (!refusal.empty()) throw base::ScenarioError(refusal);
}

}  // namespace simgrad::fuzz

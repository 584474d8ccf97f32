#include "strategies/gossip_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace simgrad::strategies {

namespace {

constexpr std::array choices{base::Choice{"ring", "the two ranks beside"},
                             base::Choice{"complete", "everybody with everybody"},
                             base::Choice{"star", "everybody with rank 0"}};

std::vector<int> neighbours(Graph graph, int P, int i) {
  std::vector<int> all;
  switch (graph) {
    case Graph::ring: all = {(i + P - 1) % P, (i + 1) % P}; break;
    case Graph::complete:
      for (int j = 0; j < P; ++j) all.push_back(j);
      break;
    case Graph::star:
      if (i > 0) all = {0};
      if (i == 0)
        for (int j = 1; j < P; ++j) all.push_back(j);
      break;
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());  // two ranks are beside each other on both sides
  std::erase(all, i);
  return all;
}

int degree(Graph graph, int P, int i) {
  switch (graph) {
    case Graph::ring: return std::min(2, P - 1);
    case Graph::complete: return P - 1;
    case Graph::star: return i == 0 ? P - 1 : 1;
  }
  return 0;
}

}  // namespace

std::span<const base::Choice> graph_choices() { return choices; }

Mixing mixing(Graph graph, int P, int i) {
  Mixing row{neighbours(graph, P, i), {}};
  double left = 1.0;
  std::size_t own = 0;
  for (const int j : row.neighbours) {
    const double weight = 1.0 / (1.0 + std::max(degree(graph, P, i), degree(graph, P, j)));
    row.weights.push_back(weight);
    left -= weight;
    if (j < i) ++own;
  }
  // On a regular graph all weights are the same number, bit for bit, so that a complete graph's replicas are equal.
  if (!row.weights.empty() && std::abs(left - row.weights.front()) < 1e-12) left = row.weights.front();
  row.weights.insert(row.weights.begin() + static_cast<std::ptrdiff_t>(own), left);
  return row;
}

double spectral_gap(Graph graph, int P) {
  if (P == 1 || graph == Graph::complete) return 1.0;
  if (graph == Graph::star) return P == 2 ? 1.0 : 1.0 / P;
  if (P == 2) return 1.0;
  // A ring's eigenvalues are (1 + 2 cos(2 pi k / P)) / 3.
  double largest = 0.0;
  for (int k = 1; k < P; ++k) largest = std::max(largest, std::abs((1.0 + 2.0 * std::cos(2.0 * std::numbers::pi * k / P)) / 3.0));
  return 1.0 - largest;
}

}  // namespace simgrad::strategies

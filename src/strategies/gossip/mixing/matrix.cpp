#include "strategies/gossip/mixing/matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simgrad::strategies {

namespace {

constexpr double rounding = 1e-9;  // tolerance for a matrix that was written down

}  // namespace

void normalize(std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (std::abs(sum) < rounding)
    weights.assign(weights.size(), 1.0 / static_cast<double>(weights.size()));
  else
    for (double& weight : weights) weight /= sum;
}

double MixingMatrix::entry(int i, int j) const {
  const MixingRow& row = rows[static_cast<std::size_t>(i)];
  const auto at = std::ranges::lower_bound(row.neighbours, j);
  const auto place = static_cast<std::size_t>(at - row.neighbours.begin());
  if (i == j) return row.weights[place];
  if (at == row.neighbours.end() || *at != j) return 0.0;
  return row.weights[j > i ? place + 1 : place];
}

bool MixingMatrix::doubly_stochastic() const {
  std::vector<double> sums(rows.size());
  for (int i = 0; i < size(); ++i) {
    sums[static_cast<std::size_t>(i)] += entry(i, i);
    for (const int j : rows[static_cast<std::size_t>(i)].neighbours) sums[static_cast<std::size_t>(j)] += entry(i, j);
  }
  return std::ranges::all_of(sums, [](double sum) { return std::abs(sum - 1.0) < rounding; });
}

bool MixingMatrix::symmetric() const {
  for (int i = 0; i < size(); ++i)
    for (const int j : rows[static_cast<std::size_t>(i)].neighbours)
      if (std::abs(entry(i, j) - entry(j, i)) > rounding) return false;
  return true;
}

Adjacency MixingMatrix::support() const {
  Adjacency edges(rows.size());
  for (int i = 0; i < size(); ++i)
    for (const int j : rows[static_cast<std::size_t>(i)].neighbours)
      if (entry(i, j) != 0.0) edges[static_cast<std::size_t>(j)].push_back(i);
  return edges;
}

MixingMatrix MixingMatrix::lazy() const {
  MixingMatrix half = *this;
  for (int i = 0; i < size(); ++i) {
    MixingRow& row = half.rows[static_cast<std::size_t>(i)];
    for (double& weight : row.weights) weight /= 2.0;
    row.weights[static_cast<std::size_t>(std::ranges::lower_bound(row.neighbours, i) - row.neighbours.begin())] += 0.5;
  }
  return half;
}

}  // namespace simgrad::strategies

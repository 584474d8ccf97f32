#include "strategies/gossip/mixing/matrix_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "strategies/gossip/mixing/written_matrix.h"

namespace simgrad::strategies {

void MatrixFile::describe(base::Describer& d) {
  d.path("path", path, "the file");
  if (path.empty()) d.refuse("path", "mixing = { kind = \"file\" } reads a matrix from a file; give path = \"...\"");
}

std::string MatrixFile::refusal(const Adjacency& edges) const {
  const int P = static_cast<int>(edges.size());
  if (P == 1) return {};
  try {
    const WrittenMatrix W = read_matrix(path, P);
    const Adjacency from = sources(edges);
    for (int i = 0; i < P; ++i)
      for (int j = 0; j < P; ++j) {
        const double entry = W.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        if (i == j || entry == 0.0 || std::ranges::binary_search(from[static_cast<std::size_t>(i)], j)) continue;
        return fmt::format(
            "{}:{}: row {} has {} for rank {}, from whom the graph has no edge to rank {}; expected 0, or "
            "graph = \"support\", which is that of the matrix",
            path, W.lines[static_cast<std::size_t>(i)], i, entry, j, i);
      }
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return {};
}

MixingMatrix MatrixFile::matrix(const Adjacency& edges, std::span<const int> ranks) const {
  const std::size_t P = ranks.size();
  WrittenMatrix written = P == 1 ? WrittenMatrix{{{1.0}}, {1}} : parse_matrix(path);
  const auto at = [&](int rank) { return P == 1 ? std::size_t{0} : static_cast<std::size_t>(rank); };
  const Adjacency from = sources(edges);
  MixingMatrix W;
  for (std::size_t i = 0; i < P; ++i) {
    const std::vector<double>& all = written.rows[at(ranks[i])];
    MixingRow row{.neighbours = from[i], .weights = {}, .targets = edges[i]};
    std::ranges::sort(row.targets);
    std::vector<int> group = row.neighbours;
    group.insert(std::ranges::lower_bound(group, static_cast<int>(i)), static_cast<int>(i));
    for (const int j : group) row.weights.push_back(all[at(ranks[static_cast<std::size_t>(j)])]);
    if (ranks.size() < all.size()) normalize(row.weights);
    W.rows.push_back(std::move(row));
  }
  return W;
}

std::optional<Adjacency> MatrixFile::support(int P) const {
  Adjacency edges(static_cast<std::size_t>(P));
  if (P == 1) return edges;
  const WrittenMatrix W = read_matrix(path, P);
  for (int i = 0; i < P; ++i)
    for (int j = 0; j < P; ++j)
      if (i != j && W.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] != 0.0)
        edges[static_cast<std::size_t>(j)].push_back(i);
  return edges;
}

}  // namespace simgrad::strategies

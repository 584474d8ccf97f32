#include "strategies/gossip/graphs/grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace simgrad::strategies {

namespace {

int most_square(int P) {
  int rows = 1;
  for (int n = 1; n * n <= P; ++n)
    if (P % n == 0) rows = n;
  return rows;
}

}  // namespace

void Grid2d::describe(base::Describer& d) {
  d.integer("rows", rows, "the number of rows; default: the number that makes the grid most nearly square",
            base::Bounds::at_least(1));
}

std::string Grid2d::refusal(int P) const {
  if (!rows || P % *rows == 0 || P == 1) return {};
  return fmt::format("rows = {} does not divide {} workers; give a divisor, or leave rows out", *rows, P);
}

int Grid2d::height(int P) const { return P == 1 ? 1 : static_cast<int>(rows.value_or(most_square(P))); }

Adjacency Grid2d::grid(int P, bool wraps) const {
  const int height = this->height(P);
  const int width = P / height;
  Adjacency all(static_cast<std::size_t>(P));
  for (int i = 0; i < P; ++i) {
    std::vector<int>& own = all[static_cast<std::size_t>(i)];
    const int y = i / width, x = i % width;
    for (const auto& [dy, dx] : {std::pair(-1, 0), std::pair(0, -1), std::pair(0, 1), std::pair(1, 0)}) {
      const bool inside = y + dy >= 0 && y + dy < height && x + dx >= 0 && x + dx < width;
      if (!inside && !wraps) continue;
      const int j = (y + dy + height) % height * width + (x + dx + width) % width;
      // Two in a row are beside each other on both sides.
      if (j != i && std::ranges::find(own, j) == own.end()) own.push_back(j);
    }
  }
  return all;
}

std::optional<Graph::Extremes> Torus2d::metropolis_extremes(int P) const {
  const int m = height(P), n = P / m;
  if (std::min(m, n) < 3) return {};
  // (1 + 2 cos(2 pi a / m) + 2 cos(2 pi b / n)) / 5
  const auto wave = [](int k, int length) { return 2.0 * std::cos(2.0 * std::numbers::pi * k / length); };
  return Extremes{(2.0 - wave(1, std::max(m, n))) / 5.0, (1.0 + wave(m / 2, m) + wave(n / 2, n)) / 5.0};
}

}  // namespace simgrad::strategies

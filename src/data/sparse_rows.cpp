#include "data/sparse_rows.h"

#include <algorithm>

#include "base/huge_pages.h"

namespace simgrad::data {

SparseRows chosen_rows(const Dataset& all, const std::vector<std::int64_t>& rows, bool bias) {
  const SparseRows& from = all.sparse;
  const auto start = [&](std::int64_t row) { return from.starts[static_cast<std::size_t>(row)]; };
  std::size_t entries = bias ? rows.size() : 0;
  for (const std::int64_t row : rows) entries += static_cast<std::size_t>(start(row + 1) - start(row));
  SparseRows part;
  part.starts.reserve(rows.size() + 1);
  part.keys.reserve(entries);
  base::prefer_huge_pages(part.keys.data(), entries * sizeof(std::uint32_t));  // batches read rows at random
  if (!from.values.empty()) part.values.reserve(entries);
  part.starts.push_back(0);
  for (const std::int64_t row : rows) {
    part.keys.insert(part.keys.end(), from.keys.begin() + start(row), from.keys.begin() + start(row + 1));
    if (bias) part.keys.push_back(static_cast<std::uint32_t>(all.columns));
    if (!from.values.empty()) {
      part.values.insert(part.values.end(), from.values.begin() + start(row), from.values.begin() + start(row + 1));
      if (bias) part.values.push_back(1.0);
    }
    part.starts.push_back(part.entries());
  }
  return part;
}

void make_sparse(Dataset& set) {
  SparseRows& to = set.sparse;
  to.starts.push_back(0);
  for (std::int64_t row = 0; row < set.rows; ++row) {
    const auto x = set.row(row);
    for (std::size_t j = 0; j < x.size(); ++j)
      if (x[j] != 0.0) {
        to.keys.push_back(static_cast<std::uint32_t>(j));
        to.values.push_back(x[j]);
      }
    to.starts.push_back(to.entries());
  }
  set.features = {};
  set.feature_names = {};
  if (std::ranges::all_of(to.values, [](double value) { return value == 1.0; })) to.values = {};
  set.fields = common_length(to);
}

std::int64_t common_length(const SparseRows& rows) {
  const std::int64_t first = rows.starts.size() > 1 ? rows.starts[1] : 0;
  for (std::size_t row = 1; row < rows.starts.size(); ++row)
    if (rows.starts[row] - rows.starts[row - 1] != first) return 0;
  return first;
}

}  // namespace simgrad::data

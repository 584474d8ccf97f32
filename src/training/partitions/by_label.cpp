#include "training/partitions/by_label.h"

#include <algorithm>
#include <numeric>

namespace simgrad::training {

void ByLabel::describe(base::Describer& d) {
  d.integer("stretches", stretches,
            "the number of stretches of the sorted rows for each rank; fewer if there are few rows",
            base::Bounds::between(1, 1000));
}

DataShards ByLabel::shards(const Owned& owned, int parts) const {
  std::vector<std::int64_t> sorted;
  if (!owned.classes.empty()) {
    sorted.resize(static_cast<std::size_t>(owned.rows));
    std::iota(sorted.begin(), sorted.end(), 0);
    const auto class_of = [&](std::int64_t row) { return owned.classes[static_cast<std::size_t>(row)]; };
    std::ranges::stable_sort(sorted, {}, class_of);
  }
  // No stretch is empty, so every rank has rows.
  const std::int64_t each = std::min(stretches, owned.rows / parts);
  const std::int64_t all = parts * each;
  DataShards shards;
  shards.starts.push_back(0);
  for (int part = 0; part < parts; ++part) {
    std::int64_t size = 0;
    for (std::int64_t s = part; s < all; s += parts) {
      const std::int64_t from = stretch(owned.rows, s, all);
      const std::int64_t to = stretch(owned.rows, s + 1, all);
      size += to - from;
      if (!sorted.empty()) shards.rows.insert(shards.rows.end(), sorted.begin() + from, sorted.begin() + to);
    }
    shards.starts.push_back(shards.starts.back() + size);
  }
  return shards;
}

}  // namespace simgrad::training

#include "training/partitions/dirichlet.h"

#include <algorithm>
#include <map>

#include "base/errors.h"
#include "training/partitions/proportions.h"

namespace simgrad::training {

using Rows = std::vector<std::int64_t>;

namespace {

void give_everyone_a_row(std::vector<Rows>& shards) {
  for (Rows& shard : shards) {
    if (!shard.empty()) continue;
    Rows& largest = *std::ranges::max_element(shards, {}, &Rows::size);
    shard.push_back(largest.back());
    largest.pop_back();
  }
}

}  // namespace

void Dirichlet::describe(base::Describer& d) {
  d.number("alpha", alpha,
           "the concentration: if small, a rank has few classes; if large, all ranks have the same mixture",
           base::Bounds::between(1e-3, 1e6));
}

DataShards Dirichlet::shards(const Owned& owned, int parts) const {
  base::check(!owned.classes.empty(), "a partition by class has classes");
  std::map<double, Rows> by_class;
  for (std::int64_t row = 0; row < owned.rows; ++row)
    by_class[owned.classes[static_cast<std::size_t>(row)]].push_back(row);

  std::vector<Rows> shards(static_cast<std::size_t>(parts));
  for (const auto& [label, rows] : by_class) {
    base::Stream stream(
        {.seed = owned.seed, .purpose = base::Purpose::partition, .step = static_cast<std::uint64_t>(label)});
    const auto starts = cuts(static_cast<std::int64_t>(rows.size()), dirichlet(alpha, parts, stream));
    for (std::size_t r = 0; r < shards.size(); ++r)
      shards[r].insert(shards[r].end(), rows.begin() + starts[r], rows.begin() + starts[r + 1]);
  }
  give_everyone_a_row(shards);

  DataShards dealt{.rows = {}, .starts = {0}, .even = false};
  for (const Rows& shard : shards) {
    dealt.rows.insert(dealt.rows.end(), shard.begin(), shard.end());
    dealt.starts.push_back(static_cast<std::int64_t>(dealt.rows.size()));
  }
  return dealt;
}

}  // namespace simgrad::training

#include "training/partitions/quantity.h"

#include "training/partitions/proportions.h"

namespace simgrad::training {

void Quantity::describe(base::Describer& d) {
  d.number("alpha", alpha,
           "the concentration: if small, few ranks have nearly all rows; if large, all have equally many",
           base::Bounds::between(1e-3, 1e6));
}

DataShards Quantity::shards(const Owned& owned, int parts) const {
  base::Stream stream({.seed = owned.seed, .purpose = base::Purpose::partition});
  DataShards shards{.rows = {}, .starts = cuts(owned.rows - parts, dirichlet(alpha, parts, stream)), .even = false};
  for (std::size_t r = 0; r < shards.starts.size(); ++r) shards.starts[r] += static_cast<std::int64_t>(r);
  return shards;
}

}  // namespace simgrad::training

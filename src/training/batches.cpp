#include "training/batches.h"

#include "base/random.h"

namespace simgrad::training {

using base::Permutation;
using base::Purpose;

std::int64_t Batches::count(int part, int parts) const {
  return stretch(options_.batch, part + 1, parts) - stretch(options_.batch, part, parts);
}

RowSet Batches::rows(std::int64_t step, int part, int parts) const {
  const std::int64_t share = count(part, parts);
  if (full()) return {stretch(options_.rows, part, parts), share, {}};

  // What the rows are drawn from, how many of them a step uses up, and where this rank's share of those begins.
  const bool iid = options_.partition == Partition::iid;
  const std::int64_t from = iid ? 0 : stretch(options_.rows, part, parts);
  const std::int64_t pool = iid ? options_.rows : stretch(options_.rows, part + 1, parts) - from;
  const std::int64_t used = iid ? options_.batch : share;
  const std::int64_t offset = iid ? stretch(options_.batch, part, parts) : 0;

  RowSet set{0, share, {}};
  if (pool == 0) return {0, 0, {}};
  set.indices.reserve(static_cast<std::size_t>(share));
  const auto order = [&](std::int64_t epoch) {
    return Permutation({.seed = options_.seed,
                        .purpose = Purpose::batch,
                        .step = static_cast<std::uint64_t>(epoch),
                        .rank = iid ? 0u : static_cast<std::uint32_t>(part) + 1u},
                       static_cast<std::uint64_t>(pool));
  };
  std::int64_t place = step * used + offset;
  std::int64_t epoch = place / pool;
  Permutation permutation = order(epoch);
  for (std::int64_t i = 0; i < share; ++i, ++place) {
    if (place / pool != epoch) permutation = order(++epoch);
    set.indices.push_back(from + static_cast<std::int64_t>(permutation(static_cast<std::uint64_t>(place % pool))));
  }
  return set;
}

}  // namespace simgrad::training

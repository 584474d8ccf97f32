#include "training/partitions/plain.h"

#include <array>

#include "training/partitions/proportions.h"

namespace simgrad::training {

using base::Choice;

namespace {

constexpr std::array batch_shares{
    Choice{"equal", "all ranks have the same number of rows, to within one"},
    Choice{"speed",
           "in proportion to the nominal speeds of the ranks' hosts (hosts and relative_speeds), to within one row"}};

DataShards nearly_equal(std::int64_t rows, int parts) {
  DataShards shards;
  for (int part = 0; part <= parts; ++part) shards.starts.push_back(stretch(rows, part, parts));
  return shards;
}

}  // namespace

void Plain::describe(base::Describer& d) {
  d.choice("shares", shares, batch_shares, "how a step's batch is divided among the ranks");
}

DataShards Iid::shards(const Owned& owned, int parts) const { return nearly_equal(owned.rows, parts); }

DataShards Contiguous::shards(const Owned& owned, int parts) const {
  if (owned.speeds.empty()) return nearly_equal(owned.rows, parts);
  return {.rows = {}, .starts = apportioned(owned.rows, owned.speeds), .even = false};
}

}  // namespace simgrad::training

#include "training/partitions/plain.h"

namespace simgrad::training {

namespace {

DataShards nearly_equal(std::int64_t rows, int parts) {
  DataShards shards;
  for (int part = 0; part <= parts; ++part) shards.starts.push_back(stretch(rows, part, parts));
  return shards;
}

}  // namespace

DataShards Iid::shards(const Owned& owned, int parts) const { return nearly_equal(owned.rows, parts); }

DataShards Contiguous::shards(const Owned& owned, int parts) const { return nearly_equal(owned.rows, parts); }

}  // namespace simgrad::training

#include "training/key_shards.h"

namespace simgrad::training {

KeyShards::KeyShards(Sharding sharding, int servers, std::int64_t keys)
    : servers_(servers), each_(keys / servers), with_more_(keys % servers) {
  if (sharding == Sharding::hash && servers > 1)
    hash_.emplace(base::Stream::Key{.seed = 0, .purpose = base::Purpose::sharding}, static_cast<std::uint64_t>(keys));
}

}  // namespace simgrad::training

#include "training/sparse/key_shards.h"

namespace simgrad::training {

KeyShards::KeyShards(Sharding sharding, int servers, std::int64_t keys)
    : servers_(servers), each_(keys / servers), with_more_(keys % servers), hashed_(sharding == Sharding::hash) {}

}  // namespace simgrad::training

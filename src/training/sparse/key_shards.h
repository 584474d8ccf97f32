/// The server that holds a key's row of a table, and the row's place there.
///
/// Source: ranges of keys: M. Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014.
/// By hash: s consecutive keys go to s servers, one to each. A hash of their place chooses the first one's server (the
/// finaliser of MurmurHash3, A. Appleby). Hot keys are scattered, all servers have equally many keys, and no map is
/// stored.
#pragma once

#include <algorithm>
#include <cstdint>

#include "training/learning/shards.h"

namespace simgrad::training {

class KeyShards {
 public:
  KeyShards(Sharding sharding, int servers, std::int64_t keys);

  int servers() const { return servers_; }
  /// The number of the server's keys.
  std::int64_t count(int server) const { return each_ + (server < with_more_ ? 1 : 0); }

  struct Place {
    int server = 0;
    std::uint32_t row = 0;
  };
  Place place(std::uint32_t key) const {
    if (servers_ == 1) return {0, key};
    if (hashed_) {
      const auto s = static_cast<std::uint32_t>(servers_);
      const std::uint32_t group = key / s, server = key % s + first_of(group);
      return {static_cast<int>(server < s ? server : server - s), group};
    }
    const auto at = static_cast<std::int64_t>(key);
    const std::int64_t of_longer = with_more_ * (each_ + 1);
    if (at < of_longer) return {static_cast<int>(at / (each_ + 1)), static_cast<std::uint32_t>(at % (each_ + 1))};
    return {static_cast<int>(with_more_ + (at - of_longer) / each_),
            static_cast<std::uint32_t>((at - of_longer) % each_)};
  }
  /// The key at that place.
  std::int64_t key(int server, std::int64_t row) const {
    if (!hashed_ || servers_ == 1) return server * each_ + std::min<std::int64_t>(server, with_more_) + row;
    const std::int64_t in_group = server - static_cast<std::int64_t>(first_of(static_cast<std::uint32_t>(row)));
    return row * servers_ + (in_group < 0 ? in_group + servers_ : in_group);
  }

 private:
  /// The server of the first of s consecutive keys. The last keys, if fewer than s, go to the first servers.
  std::uint32_t first_of(std::uint32_t group) const {
    if (group == each_) return 0;
    std::uint32_t x = group;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    x ^= x >> 16;
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(servers_)) >> 32);
  }

  int servers_;
  std::int64_t each_;
  std::int64_t with_more_;  ///< the first so many servers have a key more
  bool hashed_;
};

}  // namespace simgrad::training

/// Which of s servers holds a key's row of a table, and where among its own.
///
/// Source: ranges of keys: M. Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014. By
/// hash: a fixed pseudo-random permutation of the keys (J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA
/// 2002), whose ranges they are then: hot keys are scattered, the servers have equally many, and nobody stores a map.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "training/shards.h"

namespace simgrad::training {

class KeyShards {
 public:
  KeyShards(Sharding sharding, int servers, std::int64_t keys);

  int servers() const { return servers_; }
  /// How many keys are the server's.
  std::int64_t count(int server) const { return each_ + (server < with_more_ ? 1 : 0); }

  struct Place {
    int server = 0;
    std::uint32_t row = 0;
  };
  Place place(std::uint32_t key) const {
    if (servers_ == 1) return {0, key};
    const auto at = hash_ ? static_cast<std::int64_t>((*hash_)(key)) : static_cast<std::int64_t>(key);
    const std::int64_t of_longer = with_more_ * (each_ + 1);
    if (at < of_longer) return {static_cast<int>(at / (each_ + 1)), static_cast<std::uint32_t>(at % (each_ + 1))};
    return {static_cast<int>(with_more_ + (at - of_longer) / each_), static_cast<std::uint32_t>((at - of_longer) % each_)};
  }

 private:
  int servers_;
  std::int64_t each_;
  std::int64_t with_more_;  ///< the first so many servers have a key more
  std::optional<base::Permutation> hash_;
};

}  // namespace simgrad::training

// Which server holds which key.
#include "training/sparse/key_shards.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "catch.h"

namespace key_shards_test {

using namespace simgrad::training;

TEST_CASE("every key has a place of its own, its server counts it, and the place tells the key") {
  for (const Sharding sharding : {Sharding::range, Sharding::hash})
    for (const int servers : {1, 2, 3, 4, 7})
      for (const std::int64_t keys : {7, 8, 20, 101}) {
        const KeyShards shards(sharding, servers, keys);
        std::vector<std::vector<int>> taken;
        for (int j = 0; j < servers; ++j) taken.emplace_back(static_cast<std::size_t>(shards.count(j)), 0);
        for (std::int64_t key = 0; key < keys; ++key) {
          const KeyShards::Place place = shards.place(static_cast<std::uint32_t>(key));
          ++taken.at(static_cast<std::size_t>(place.server)).at(place.row);
          CHECK(shards.key(place.server, place.row) == key);
        }
        for (const std::vector<int>& server : taken)
          for (const int times : server) CHECK(times == 1);
      }
}

TEST_CASE("by hash neighbours are on different servers, and keys at equal distances on all alike") {
  constexpr int servers = 4, groups = 10'000;
  const KeyShards shards(Sharding::hash, servers, servers * groups);
  std::vector<int> counts(servers, 0);
  for (std::uint32_t group = 0; group < groups; ++group) {
    ++counts.at(static_cast<std::size_t>(shards.place(group * servers).server));
    CHECK(shards.place(group * servers).server != shards.place(group * servers + 1).server);
  }
  // Four deviations of a binomial number.
  for (const int count : counts) CHECK(std::abs(count - groups / servers) < 4 * 44);
}

}  // namespace key_shards_test

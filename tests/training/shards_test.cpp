// How parameters are dealt to servers.
#include "training/learning/shards.h"

#include <algorithm>
#include <numeric>

#include "catch.h"

namespace shards_test {

using namespace simgrad;
using training::Sharding;

TEST_CASE("shards by hash hold every parameter once, in lengths as hashing gives them") {
  values::Dispatcher dispatcher({.threads = 0, .numbers = true, .label = {}});
  for (const std::int64_t d : {1, 7, 1000}) {
    std::vector<double> numbers(static_cast<std::size_t>(d));
    std::iota(numbers.begin(), numbers.end(), 1.0);
    const values::Tensor x = dispatcher.constant(numbers);
    const training::Shards shards(Sharding::hash, 8, d, dispatcher);
    const auto parts = shards.split(x);
    std::vector<double> all;
    std::int64_t longest = 0;
    for (int j = 0; j < 8; ++j) {
      const auto part = parts[static_cast<std::size_t>(j)].value();
      CHECK(std::ssize(part) == shards.count(j));
      all.insert(all.end(), part.begin(), part.end());
      longest = std::max(longest, shards.count(j));
    }
    CHECK(std::ranges::equal(shards.whole(parts).value(), numbers));
    std::ranges::sort(all);
    CHECK(all == numbers);
    // 1000 balls in 8 bins: 125 +- 10.5 each.
    if (d == 1000) CHECK((longest > 125 && longest < 125 + 5 * 11));
  }
}

TEST_CASE("shards by range have lengths that differ by at most one") {
  values::Dispatcher dispatcher({.threads = 0, .numbers = false, .label = {}});
  for (int s = 1; s <= 16; ++s)
    for (const std::int64_t d : {16, 17, 1000}) {
      const training::Shards shards(Sharding::range, s, d, dispatcher);
      std::int64_t all = 0;
      for (int j = 0; j < s; ++j) {
        CHECK((shards.count(j) == d / s || shards.count(j) == d / s + 1));
        all += shards.count(j);
      }
      CHECK(all == d);
    }
}

}  // namespace shards_test

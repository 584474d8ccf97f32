// Numbers of keys, batch after batch.
#include "training/sparse/distinct_keys.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "catch.h"

namespace distinct_keys_test {

using simgrad::training::DistinctKeys;

TEST_CASE("keys are numbered by their first appearance, anew each time") {
  DistinctKeys distinct(10);
  for (const std::vector<std::uint32_t>& keys : {std::vector<std::uint32_t>{7, 0, 7, 9}, {9, 9, 7, 3}}) {
    std::vector<std::uint32_t> numbers(keys.size());
    distinct.begin(4);
    distinct.number(keys, numbers.data());
    REQUIRE(distinct.count() == 3);
    for (std::size_t i = 0; i < keys.size(); ++i) CHECK(distinct.keys().at(numbers[i]) == keys[i]);
    CHECK(numbers[0] == 0);
    CHECK(distinct.find(keys[3]) == 2);
  }
  CHECK_FALSE(distinct.find(0));
}

TEST_CASE("keys that came long ago are forgotten even when their numbers come round") {
  constexpr std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
  DistinctKeys distinct(10, last - 5);
  for (std::uint32_t time = 0; time < 20; ++time) {
    distinct.begin(2);
    for (const std::uint32_t key : {time % 10, (time + 3) % 10}) CHECK_FALSE(distinct.find(key));
    CHECK(distinct.number(time % 10) == 0);
    CHECK(distinct.number((time + 3) % 10) == 1);
    CHECK(distinct.number(time % 10) == 0);
  }
}

}  // namespace distinct_keys_test

#include "collectives/split.h"

#include "catch.h"
#include "collectives/lengths.h"
#include "values/dispatcher.h"

namespace split_test {

using namespace simgrad;
using collectives::Split;
using collectives::Stretch;

TEST_CASE("P chunks cover a vector in order, with lengths that differ by at most one, the longer ones first") {
  for (const int P : {1, 2, 3, 7, 16})
    for (const std::int64_t d : {0, 1, P - 1, P, P + 1, 1000}) {
      CAPTURE(P, d);
      const Split split(d, P);
      std::int64_t first = 0;
      for (int k = 0; k < P; ++k) {
        const Stretch chunk = split.chunk(k);
        CHECK(chunk.first == first);
        CHECK(chunk.count == d / P + (k < d % P ? 1 : 0));
        CHECK(split.bytes(chunk) == 8 * chunk.count);
        first = chunk.end();
      }
      CHECK(first == d);
      CHECK(split.chunks(1, P).first == split.chunk(0).end());
      CHECK(split.chunks(1, P).end() == d);
    }
}

TEST_CASE("chunks of given lengths lie one behind the other") {
  const std::vector<std::int64_t> counts{3, 0, 5};
  const Split split(counts);
  CHECK(split.length() == 8);
  CHECK(split.starts() == std::vector<std::int64_t>{0, 3, 3});
  CHECK(split.chunk(2).first == 3);
  CHECK(split.chunk(2).count == 5);
  CHECK(split.chunk(1).count == 0);
  CHECK(!split.even());
}

TEST_CASE("stretches of one length are one tensor where only lengths are seen, and never where numbers are") {
  for (const bool numbers : {false, true})
    for (const bool lineages : {false, true}) {
      CAPTURE(numbers, lineages);
      values::Dispatcher dispatcher({.numbers = numbers, .lineages = lineages});
      const values::Tensor x = dispatcher.constant({1, 2, 3, 4, 5}), y = dispatcher.constant({6, 7, 8, 9, 10});
      collectives::Stretches stretches;
      const auto two = stretches.take(x, {0, 2}), three = stretches.take(x, {2, 3}),
                 two_of_y = stretches.take(y, {3, 2});
      CHECK(two.size() == 2);
      CHECK(three.size() == 3);
      CHECK((two.identity() == two_of_y.identity()) == (!numbers && !lineages));
      CHECK(two_of_y.size() == 2);
      if (numbers) CHECK(two_of_y.value()[0] == 9);
      CHECK(stretches.take(values::rounded(y, values::Format::float32), {0, 2}).size_bytes() == 8);
    }
}

}  // namespace split_test

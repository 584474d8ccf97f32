#include "collectives/chunks.h"

#include <algorithm>

#include "catch.h"
#include "values/dispatcher.h"

using namespace simgrad;

TEST_CASE("P chunks cover a vector in order, with lengths that differ by at most one, the longer ones first") {
  values::Dispatcher dispatcher({.label = {}});
  for (const int P : {1, 2, 3, 7, 16})
    for (const std::int64_t d : {0, 1, P - 1, P, P + 1, 1000}) {
      CAPTURE(P, d);
      std::vector<double> numbers;
      for (std::int64_t i = 0; i < d; ++i) numbers.push_back(static_cast<double>(i));
      const values::Tensor x = dispatcher.constant(numbers);
      const std::vector<values::Tensor> chunks = collectives::split(x, P);
      REQUIRE(chunks.size() == static_cast<std::size_t>(P));
      std::vector<double> joined;
      for (std::int64_t k = 0; k < P; ++k) {
        const values::Tensor& chunk = chunks[static_cast<std::size_t>(k)];
        CHECK(chunk.size() == d / P + (k < d % P ? 1 : 0));
        joined.insert(joined.end(), chunk.value().begin(), chunk.value().end());
      }
      CHECK(joined == numbers);
    }
}

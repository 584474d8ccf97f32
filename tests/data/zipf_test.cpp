// Ranks by Zipf's law against the law itself.
#include "data/zipf.h"

#include <cmath>
#include <vector>

#include "catch.h"

namespace zipf_test {

using namespace simgrad;

TEST_CASE("ranks come as often as Zipf's law says, for exponents below, at and above one") {
  constexpr int n = 40, draws = 200'000;
  for (const double s : {0.0, 0.5, 1.0, 1.1, 2.5}) {
    const data::Zipf zipf(s, n);
    base::Stream stream({.seed = 7, .purpose = base::Purpose::test});
    std::vector<double> counts(n, 0.0);
    for (int i = 0; i < draws; ++i) {
      const std::int64_t rank = zipf(stream);
      REQUIRE(rank >= 1);
      REQUIRE(rank <= n);
      counts[static_cast<std::size_t>(rank - 1)] += 1.0;
    }
    double sum = 0.0, chi_square = 0.0;
    for (int r = 1; r <= n; ++r) sum += std::pow(r, -s);
    for (int r = 1; r <= n; ++r) {
      const double expected = draws * std::pow(r, -s) / sum;
      const double away = counts[static_cast<std::size_t>(r - 1)] - expected;
      chi_square += away * away / expected;
    }
    CAPTURE(s, chi_square);
    CHECK(chi_square < 39 + 4 * std::sqrt(2.0 * 39));  // four standard deviations above its mean
  }
}

TEST_CASE("one rank is always the first") {
  const data::Zipf zipf(1.3, 1);
  base::Stream stream({.seed = 1, .purpose = base::Purpose::test});
  for (int i = 0; i < 100; ++i) CHECK(zipf(stream) == 1);
}

}  // namespace zipf_test

// The multiples of their time that gradients take where no worker waits for another.
#include "training/pace.h"

#include <cmath>

#include "catch.h"

namespace pace_test {

using namespace simgrad;

namespace {

constexpr int draws = 20'000;

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

Moments moments(double spread, bool first) {
  double sum = 0.0, squares = 0.0;
  for (int rank = 0; rank < draws; ++rank) {
    base::Stream stream({.purpose = base::Purpose::pace, .rank = static_cast<std::uint32_t>(rank)});
    const double multiple = training::multiple_of_gradient(stream, spread, first);
    sum += multiple;
    squares += multiple * multiple;
  }
  return {sum / draws, squares / draws - sum / draws * sum / draws};
}

}  // namespace

TEST_CASE("gradients of an asynchronous worker have mean 1 and the spread as standard deviation") {
  for (const double spread : {0.01, 0.1, 0.5}) {
    const Moments drawn = moments(spread, false);
    CAPTURE(spread);
    CHECK(std::abs(drawn.mean - 1.0) < 4.0 * spread / std::sqrt(double{draws}));
    // The variance of a log-normal's sample variance: its kurtosis is below 9 at a spread of 0.5.
    CHECK(std::abs(drawn.variance / (spread * spread) - 1.0) < 4.0 * std::sqrt(8.0 / draws));
  }
}

TEST_CASE("first gradients are uniform over one gradient's time, of mean 1") {
  const Moments drawn = moments(1e-9, true);
  // Uniform in [1/2, 3/2): variance 1/12; of the sample variance 1/180 / draws.
  CHECK(std::abs(drawn.mean - 1.0) < 4.0 / std::sqrt(12.0 * draws));
  CHECK(std::abs(drawn.variance - 1.0 / 12.0) < 4.0 / std::sqrt(180.0 * draws));
  for (std::uint32_t rank = 0; rank < 1000; ++rank) {
    base::Stream stream({.purpose = base::Purpose::pace, .rank = rank});
    const double multiple = training::multiple_of_gradient(stream, 1e-9, true);
    CHECK((multiple > 0.4999999 && multiple < 1.5000001));
  }
}

}  // namespace pace_test

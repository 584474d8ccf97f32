// Round numbers on axes.
#include "outputs/terminal/axis.h"

#include <cmath>

#include "catch.h"

namespace axis_test {

using namespace simgrad::outputs;

namespace {

void check_ticks(const Axis& axis, std::size_t most, const std::vector<double>& expected) {
  const std::vector<double> ticks = axis.ticks(most);
  CAPTURE(ticks);
  REQUIRE(ticks.size() == expected.size());
  for (std::size_t i = 0; i < ticks.size(); ++i) CHECK(ticks[i] == Approx(expected[i]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("a place is the share of the way, of the logarithm on a logarithmic axis") {
  const Axis linear{.from = 2.0, .to = 6.0};
  CHECK(linear.place(2.0) == 0.0);
  CHECK(linear.place(3.0) == 0.25);
  CHECK(linear.place(6.0) == 1.0);
  const Axis logarithmic{.from = 0.01, .to = 100.0, .logarithmic = true};
  CHECK(logarithmic.place(0.1) == Approx(0.25).epsilon(1e-12));
  CHECK(logarithmic.place(100.0) == 1.0);
}

TEST_CASE("ticks are multiples of 1, 2 or 5 times a power of ten, within the axis") {
  check_ticks({.from = 0.0, .to = 44.5}, 6, {0, 10, 20, 30, 40});
  check_ticks({.from = 0.0, .to = 1.0}, 5, {0, 0.2, 0.4, 0.6, 0.8, 1.0});
  check_ticks({.from = -0.03, .to = 0.03}, 3, {-0.02, 0, 0.02});
  check_ticks({.from = 0.501, .to = 0.5049}, 4, {0.501, 0.502, 0.503, 0.504});
  CHECK_FALSE(std::signbit(Axis{.from = 0.0, .to = 44.5}.ticks(6).front()));
}

TEST_CASE("a logarithmic axis has its powers of ten, and more where these are few") {
  check_ticks({.from = 1e-6, .to = 1.0, .logarithmic = true}, 6, {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1});
  check_ticks({.from = 1e-12, .to = 1.0, .logarithmic = true}, 4, {1e-12, 1e-9, 1e-6, 1e-3, 1});
  check_ticks({.from = 0.02, .to = 0.6, .logarithmic = true}, 4, {0.02, 0.05, 0.1, 0.2, 0.5});
}

TEST_CASE("an axis shorter than the distance of neighbouring numbers has few ticks, and an end") {
  const double least = 5e9;
  CHECK(Axis{.from = least, .to = std::nextafter(least, 1e10)}.ticks(4).size() <= 6);
  CHECK(Axis{.from = 1e17, .to = 1e17 + 16}.ticks(40).size() <= 42);
  CHECK(Axis{.from = -1e308, .to = 1e308}.ticks(4).size() <= 6);
}

}  // namespace axis_test

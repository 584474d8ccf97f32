#include "values/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.h"

namespace rounding_test {

using namespace simgrad;
using values::Format;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double rounded(Format format, double x) {
  double result = 0.0;
  values::round_numbers(format, {&x, 1}, {&result, 1});
  return result;
}

/// The number of a 16-bit pattern: sign, exponent, and the bits behind the point.
double meaning(std::uint32_t bits, int exponent_bits) {
  const int digits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> digits) & ((1 << exponent_bits) - 1);
  const double fraction = std::ldexp(static_cast<double>(bits & ((1U << digits) - 1)), -digits);
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0.0 ? sign * infinity : std::numeric_limits<double>::quiet_NaN();
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, exponent - bias));
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

}  // namespace

TEST_CASE("every number of 16 bits is itself, and what lies between two goes to the nearer one or to the even one") {
  const struct {
    Format format;
    int exponent_bits;
  } formats[] = {{Format::float16, 5}, {Format::bfloat16, 8}};
  for (const auto& [format, exponent_bits] : formats) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const double x = meaning(bits, exponent_bits);
      if (!same(rounded(format, x), x)) ++wrong;
      const double up = meaning(bits + 1, exponent_bits);  // away from zero
      if ((bits & 0x7FFF) == 0x7FFF || !std::isfinite(x) || !std::isfinite(up)) continue;
      const double middle = 0.5 * (x + up);  // exact in double
      const double even = bits % 2 == 0 ? x : up;
      if (!same(rounded(format, middle), even)) ++wrong;
      if (!same(rounded(format, std::nextafter(middle, 0.0)), x)) ++wrong;
      if (!same(rounded(format, std::nextafter(middle, x < 0.0 || bits >> 15 ? -infinity : infinity)), up)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("beyond the greatest number of a format is infinity, from the middle to the next on") {
  // 65520 lies between 65504 and the 65536 that float16 does not have.
  CHECK(rounded(Format::float16, 65519.999) == 65504.0);
  CHECK(rounded(Format::float16, 65520.0) == infinity);
  CHECK(rounded(Format::float16, -1e300) == -infinity);
  CHECK(rounded(Format::bfloat16, 0x1.fefffp127) == 0x1.fep127);
  CHECK(rounded(Format::bfloat16, 0x1.ffp127) == infinity);
  CHECK(rounded(Format::float32, 1e300) == infinity);
  CHECK(rounded(Format::float32, 0.1) == static_cast<double>(0.1F));
}

TEST_CASE("a long vector is rounded as its numbers are, also in place") {
  std::vector<double> x;
  for (int i = 0; i < 4099; ++i) x.push_back(std::ldexp(std::sin(i), i % 80 - 60));
  for (const Format format : {Format::float64, Format::float32, Format::float16, Format::bfloat16}) {
    std::vector<double> in_place = x;
    values::round_numbers(format, in_place, in_place);
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += same(in_place[i], rounded(format, x[i])) ? 0 : 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("rounding to nearest is off by half a unit of the last place at most") {
  // 11 significant bits are 2^-11 of the number, 8 are 2^-8, 24 are 2^-24.
  for (int i = 1; i < 20'000; ++i) {
    const double x = std::ldexp(1.0 + i / 20'000.0, i % 20 - 10);
    REQUIRE(std::fabs(rounded(Format::float16, x) - x) <= 0x1p-11 * x);
    REQUIRE(std::fabs(rounded(Format::bfloat16, x) - x) <= 0x1p-8 * x);
    REQUIRE(std::fabs(rounded(Format::float32, x) - x) <= 0x1p-24 * x);
  }
}

}  // namespace rounding_test

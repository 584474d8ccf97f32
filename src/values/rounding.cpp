#include "values/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/errors.h"
#include "base/vectors.h"

namespace simgrad::values {

namespace {

/// A binary format with fewer digits and exponents than double's.
struct Small {
  int dropped;  ///< bits of the 52 behind the point
  double least_normal;
  double one_and_half;  ///< times 2^52 the least subnormal: adding and subtracting it rounds to multiples of that
  double greatest;
};
constexpr Small half{42, 0x1p-14, 0x1.8p28, 65504.0};
constexpr Small brain{45, 0x1p-126, 0x1.8p-81, 0x1.fep127};

template <Small format>
inline double rounded_to(double x) {
  constexpr std::uint64_t below = (std::uint64_t{1} << format.dropped) - 1;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  bits += (below >> 1) + ((bits >> format.dropped) & 1);  // adds half a unit, less one bit where the kept part is even
  const double normal = std::bit_cast<double>(bits & ~below);
  const double size = std::fabs(x);
  const double subnormal = (size + format.one_and_half) - format.one_and_half;
  double result = std::copysign(size < format.least_normal ? subnormal : normal, x);
  result = std::fabs(result) > format.greatest ? std::copysign(std::numeric_limits<double>::infinity(), x) : result;
  return x == x ? result : x;
}

/// As rounded_to<half>, of floats: 13 of the 23 bits behind the point are dropped.
SIMGRAD_AVX2_IF_THERE
void floats_to_float16(float* x, std::size_t n) {
  constexpr int dropped = 13;
  constexpr float least_normal = 0x1p-14F, one_and_half = 0x1.8p-1F, greatest_half = 65504.0F;
  constexpr std::uint32_t below = (std::uint32_t{1} << dropped) - 1;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(x[i]);
    bits += (below >> 1) + ((bits >> dropped) & 1);
    const float normal = std::bit_cast<float>(bits & ~below);
    const float size = std::fabs(x[i]);
    const float subnormal = (size + one_and_half) - one_and_half;
    float result = std::copysign(size < least_normal ? subnormal : normal, x[i]);
    result = std::fabs(result) > greatest_half ? std::copysign(std::numeric_limits<float>::infinity(), x[i]) : result;
    x[i] = x[i] == x[i] ? result : x[i];
  }
}

/// bfloat16 has float's exponents, so that the bits are rounded as they are; the greatest become infinite by
/// themselves.
SIMGRAD_AVX2_IF_THERE
void floats_to_bfloat16(float* x, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[i]);
    const float result = std::bit_cast<float>((bits + 0x7FFFU + ((bits >> 16) & 1)) & 0xFFFF0000U);
    x[i] = x[i] == x[i] ? result : x[i];
  }
}

SIMGRAD_AVX2_IF_THERE
void to_float32(const double* x, double* y, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<double>(static_cast<float>(x[i]));
}

SIMGRAD_AVX2_IF_THERE
void to_float16(const double* x, double* y, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = rounded_to<half>(x[i]);
}

SIMGRAD_AVX2_IF_THERE
void to_bfloat16(const double* x, double* y, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = rounded_to<brain>(x[i]);
}

}  // namespace

void round_numbers(Format format, std::span<const double> numbers, std::span<double> results) {
  base::check(numbers.size() == results.size(), "as many results as numbers");
  switch (format) {
    case Format::float64:
      if (numbers.data() != results.data()) std::copy(numbers.begin(), numbers.end(), results.begin());
      return;
    case Format::float32:
      return to_float32(numbers.data(), results.data(), numbers.size());
    case Format::float16:
      return to_float16(numbers.data(), results.data(), numbers.size());
    case Format::bfloat16:
      return to_bfloat16(numbers.data(), results.data(), numbers.size());
    case Format::encoded:
      break;
  }
  base::check(false, "a code is no rounding");
}

void round_numbers(Format format, std::span<float> numbers) {
  if (format == Format::float16) floats_to_float16(numbers.data(), numbers.size());
  if (format == Format::bfloat16) floats_to_bfloat16(numbers.data(), numbers.size());
}

}  // namespace simgrad::values

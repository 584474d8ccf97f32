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

}  // namespace simgrad::values

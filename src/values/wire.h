/// What a number weighs on the wire, and which numbers can travel so.
#pragma once

#include <cmath>
#include <cstdint>

namespace simgrad::values {

/// Source of the three rounding formats: IEEE 754-2019 (binary32, binary16); bfloat16: S. Wang, P. Kanwar, "BFloat16:
/// The secret to high performance on Cloud TPUs", 2019.
enum class Format : unsigned char {
  float64,
  float32,
  float16,
  bfloat16,
  encoded  ///< what a decoder makes of some code, with the bytes of the code
};

/// Of each number of a tensor. A code's bytes a number may be a fraction, its bytes together are whole.
struct Wire {
  Format format = Format::float64;
  double bytes_per_number = 8.0;

  std::int64_t bytes(std::int64_t numbers) const {
    return std::llround(bytes_per_number * static_cast<double>(numbers));
  }
  bool operator==(const Wire&) const = default;
};

/// Of a format that is not `encoded`.
constexpr Wire wire(Format format) {
  const double bytes = format == Format::float64 ? 8.0 : format == Format::float32 ? 4.0 : 2.0;
  return {format, bytes};
}

/// Whether sums of two such numbers are rounded to the format again.
constexpr bool rounds(Format format) { return format != Format::float64 && format != Format::encoded; }

}  // namespace simgrad::values

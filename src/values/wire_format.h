/// The format in which numbers travel, and its bytes.
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
  encoded  ///< numbers decoded from a compressor's code; their bytes are the code's
};

/// The format of a tensor's numbers in a message. A code may take a fraction of a byte for each number; a tensor takes
/// whole bytes.
struct WireFormat {
  Format format = Format::float64;
  double bytes_per_number = 8.0;
  int exponent = 0;  ///< numbers are rounded as if they were 2^exponent times as large: gradients with a loss scale

  std::int64_t bytes(std::int64_t numbers) const {
    return std::llround(bytes_per_number * static_cast<double>(numbers));
  }
  bool operator==(const WireFormat&) const = default;
};

/// The wire format of a number format other than `encoded`.
constexpr WireFormat wire_format(Format format) {
  const double bytes = format == Format::float64 ? 8.0 : format == Format::float32 ? 4.0 : 2.0;
  return {.format = format, .bytes_per_number = bytes};
}

/// Whether sums of two such numbers are rounded to the format again.
constexpr bool rounds(Format format) { return format != Format::float64 && format != Format::encoded; }

}  // namespace simgrad::values

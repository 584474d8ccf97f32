/// Rounding to the wire formats in software, as hardware does: to nearest, ties to even, with subnormals, and to
/// infinity beyond the greatest number.
#pragma once

#include <span>

#include "values/wire_format.h"

namespace simgrad::values {

/// Sets results[i] to numbers[i] rounded to the format, as a double; NaN stays NaN. The two spans may be one. float64
/// copies; `encoded` is refused.
void round_numbers(Format format, std::span<const double> numbers, std::span<double> results);
/// Rounds floats in place. float32 and float64 leave them as they are.
void round_numbers(Format format, std::span<float> numbers);

}  // namespace simgrad::values

/// Rounding to the formats of the wire, in software: to nearest, ties to even, with subnormals, and to infinity beyond
/// the greatest number, as hardware does.
#pragma once

#include <span>

#include "values/wire_format.h"

namespace simgrad::values {

/// results[i] = numbers[i] as the format has it, in double precision; NaN stays NaN. The two may lie exactly on each
/// other. float64 copies; `encoded` is no rounding.
void round_numbers(Format format, std::span<const double> numbers, std::span<double> results);

}  // namespace simgrad::values

/// The arguments of a formula: decimals that are exact, with their units.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace simgrad::scenario {

/// Below half of what the type holds, so that differences fit.
constexpr std::int64_t mantissa_most = 1'000'000'000'000'000'000;

/// mantissa x 10^exponent.
struct Decimal {
  std::int64_t mantissa = 0;
  int exponent = 0;
  bool whole = true;  ///< written without a point and an exponent
};

/// One argument: a number, and its unit if it has one.
struct Argument {
  std::string_view text;
  Decimal number;
  std::string_view unit;
};

/// Reads an argument.  Errors: std::invalid_argument with the fault, for a text without a number, for more than 18
/// digits, and for an exponent beyond 300.
Argument parse_argument(std::string_view text);

/// The quantity that the unit measures; nothing for a text that is no unit.
std::optional<base::Unit> measure_of(std::string_view unit);

/// The double nearest to mantissa x 10^exponent.
double nearest_double(std::int64_t mantissa, int exponent);

}  // namespace simgrad::scenario

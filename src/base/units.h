/// Quantities with units: what a scenario writes as a string, held as SI doubles.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace simgrad::base {

enum class Unit {
  seconds,            ///< ps, ns, us, µs, ms, s, min, h, d
  bytes,              ///< bit/b and byte/B with k M G T P (1000) or Ki Mi Gi Ti Pi (1024)
  bytes_per_second,   ///< bps, bit/s, B/s, Bps, with the same prefixes
  flops_per_second,   ///< F, f, FLOPS, flops, FLOP/s, flop/s, with k M G T P E
};

/// What the text means in SI (s, B, B/s, flop/s).  Spaces before the unit and scientific notation are allowed.
/// The double nearest to what is written (minutes, hours and days apart, which multiply it).
/// Errors: std::invalid_argument whose text says what was found and what was expected, with an example of the unit
/// (`a time needs a unit, as in "50us"; found "50"`); also for numbers that are not finite.
double parse_quantity(std::string_view text, Unit unit);

/// A short spelling that parse_quantity reads back to the same double: "50us", "1Gbps", "10GF", "16GiB". Bandwidths are
/// in bits unless bytes need fewer digits and bits more than three. Errors: InvariantError if the value is not finite.
std::string format_quantity(double value, Unit unit);

/// What the unit measures and one example: {"a time", "50us"}.
struct UnitName {
  std::string_view measures;
  std::string_view example;
};
UnitName unit_name(Unit unit);

}  // namespace simgrad::base

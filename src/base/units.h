/// Quantities with units: what a scenario writes as a string, held as doubles: in SI, prices in the unit they are
/// quoted in.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace simgrad::base {

enum class Unit {
  seconds,                     ///< ps, ns, us, µs, ms, s, min, h, d
  bytes,                       ///< bit/b and byte/B with k M G T P (1000) or Ki Mi Gi Ti Pi (1024)
  bytes_per_second,            ///< bps, bit/s, B/s, Bps, with the same prefixes
  flops_per_second,            ///< F, f, FLOPS, flops, FLOP/s, flop/s, with k M G T P E
  dollars_per_hour,            ///< $/h, USD/h; held in $/h
  dollars_per_gigabyte,        ///< $/GB, $/MB, $/TB, $/GiB; held in $/GB (10^9 bytes)
  dollars_per_gigabyte_month,  ///< $/GB/month and its like; held in $/GB/month
  watts,                       ///< W with m, k, M
  joules_per_byte,             ///< J/B, J/bit with m u n p
  grams_per_kilowatt_hour,     ///< gCO2/kWh, g/kWh, kgCO2/kWh
};

/// The text's value, in the unit that it is held in.  Spaces before the unit and scientific notation are allowed.
/// The nearest double to the written number (except minutes, hours and days, which multiply it).
/// Errors: std::invalid_argument whose text says what was found and what was expected, with an example of the unit
/// (`a time needs a unit, as in "50us"; found "50"`); also for numbers that are not finite.
double parse_quantity(std::string_view text, Unit unit);

/// A short spelling that parse_quantity reads back to the same double: "50us", "1Gbps", "10GF", "16GiB". Bandwidths
/// below 1 Tbit/s are in bits unless bytes need fewer digits and bits more than three. Errors: InvariantError if the
/// value is not finite.
std::string format_quantity(double value, Unit unit);

/// The measure that the unit is of, and an example: {"a time", "50us"}.
struct UnitName {
  std::string_view measures;
  std::string_view example;
};
UnitName unit_name(Unit unit);

}  // namespace simgrad::base

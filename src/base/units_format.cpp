/// Quantities to text: the inverse of units.cpp.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <source_location>
#include <span>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/prefixes.h"
#include "base/units.h"

namespace simgrad::base {

namespace {

/// The shortest digits that read back to a value, and the power of ten of the first one: 1250 is "125", 3.
struct Digits {
  bool negative = false;
  std::string digits{};
  int exponent = 0;
};

Digits shortest(double value) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific);
  const std::string_view text(buffer.data(), end.ptr);
  const std::size_t e = text.find('e');
  Digits parts{.negative = std::signbit(value)};
  for (const char c : text.substr(0, e))
    if (c != '.') parts.digits += c;
  const std::size_t from = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + from, text.data() + text.size(), parts.exponent);
  return parts;
}

/// `value` with the prefix that leaves one to three digits before the point, else with none.
std::string prefixed(double value, std::span<const Prefix> prefixes, std::string_view base) {
  const Digits parts = shortest(value);
  for (const Prefix& prefix : prefixes) {
    const int before_point = parts.exponent - prefix.decimal + 1;
    if (before_point < 1 || before_point > 3 || value == 0.0) continue;
    std::string digits = parts.digits;
    const auto whole = static_cast<std::size_t>(before_point);
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    if (digits.size() > whole) digits.insert(digits.begin() + before_point, '.');
    return fmt::format("{}{}{}{}", parts.negative ? "-" : "", digits, prefix.text, base);
  }
  return fmt::format("{}{}", value, base);
}

std::string format_time(double value) {
  // Minutes, hours and days only where they are whole: then n * 60 is exact.
  for (const auto& [text, seconds] : {std::pair{"d", 86400.0}, std::pair{"h", 3600.0}, std::pair{"min", 60.0}})
    if (value != 0.0 && std::abs(value) < 0x1p53 && std::fmod(value, seconds) == 0.0)
      return fmt::format("{}{}", value / seconds, text);
  return prefixed(value, second_prefixes, "s");
}

std::string format_size(double value) {
  const std::size_t digits = shortest(value).digits.size();
  for (const Prefix& prefix : binary_prefixes) {
    const double scaled = value / prefix.factor;
    if (std::abs(scaled) < 1.0 || std::abs(scaled) >= 1024.0) continue;
    if (shortest(scaled).digits.size() < digits) return fmt::format("{}{}B", scaled, prefix.text);
  }
  return prefixed(value, decimal_prefixes, "B");
}

std::string format_rate(double value) {
  // Networks are sold in bits, and faster links, as those between devices, in bytes. Bytes are also used where bits
  // would need more digits than people write.
  constexpr double fastest_network = 1e12;  // bit/s
  const double bits = value * 8.0;
  if (std::abs(bits) < fastest_network) {
    const std::size_t digits = shortest(bits).digits.size();
    if (digits <= 3 || digits <= shortest(value).digits.size()) return prefixed(bits, decimal_prefixes, "bps");
  }
  return prefixed(value, decimal_prefixes, "Bps");
}

}  // namespace

std::string format_quantity(double value, Unit unit) {
  check(std::isfinite(value), "a quantity is finite");
  switch (unit) {
    case Unit::seconds:
      return format_time(value);
    case Unit::bytes:
      return format_size(value);
    case Unit::bytes_per_second:
      return format_rate(value);
    case Unit::flops_per_second:
      return prefixed(value, decimal_prefixes, "F");
    case Unit::dollars_per_hour:
      return fmt::format("{}$/h", value);
    case Unit::dollars_per_gigabyte:
      return fmt::format("{}$/GB", value);
    case Unit::dollars_per_gigabyte_month:
      return fmt::format("{}$/GB/month", value);
    case Unit::watts:
      return fmt::format("{}W", value);
    case Unit::joules_per_byte:
      return prefixed(value, second_prefixes, "J/B");
    case Unit::grams_per_kilowatt_hour:
      return fmt::format("{}gCO2/kWh", value);
  }
  invariant_broken("an unknown unit", std::source_location::current());
}

}  // namespace simgrad::base

#include "outputs/text/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "outputs/text/language.h"

namespace simgrad::outputs {
namespace {

/// `value` in the first of the units, each 1000 times the one before, in which three digits are enough.
std::string scaled(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < units.size()) {
    value /= 1000.0;
    ++unit;
  }
  return three_digits(value) + units[unit];
}

std::string whole_or_scaled(double value, std::span<const char* const> units) {
  return std::abs(value) < 999.5 ? fmt::format("{:.0f}{}", value, units[0]) : scaled(value, units);
}

}  // namespace

std::string three_digits(double value) {
  const double size = std::abs(value);
  // The thresholds are where rounding reaches the next power of ten: 9.996 is "10.0", not "10.00".
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string speedup_text(double ratio) {
  return tr("{}x", ratio > 0.0 && ratio < 0.0995 ? fmt::format("{:.3g}", ratio) : three_digits(ratio));
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds == 0.0) return "0 s";
  static constexpr const char* units[] = {" ns", " µs", " ms", " s"};
  constexpr double shown_as_nothing_s = 0.005e-9;
  if (std::abs(seconds) < shown_as_nothing_s) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 59.95) return scaled(seconds * 1e9, units);
  if (seconds > 1e12) return fmt::format("{:.3g} d", seconds / 86400.0);
  const std::int64_t whole_s = std::llround(seconds);
  if (whole_s < 3600) return fmt::format("{} min {} s", whole_s / 60, whole_s % 60);
  const std::int64_t whole_min = std::llround(seconds / 60.0);
  if (whole_min < 48 * 60) return fmt::format("{} h {} min", whole_min / 60, whole_min % 60);
  const std::int64_t whole_h = std::llround(seconds / 3600.0);
  return fmt::format("{} d {} h", whole_h / 24, whole_h % 24);
}

std::string byte_count(double bytes) {
  static constexpr const char* units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
  return whole_or_scaled(bytes, units);
}

std::string count(double number) {
  static constexpr const char* units[] = {"", " k", " M", " G", " T"};
  return whole_or_scaled(number, units);
}

std::string flops_text(double flops) {
  return flops < 1e15 ? count(flops) : fmt::format("{} P", three_digits(flops / 1e15));
}

std::string dollars(double usd) {
  if (std::abs(usd) >= 0.995 || usd == 0.0) return fmt::format("${:.2f}", usd);
  if (std::abs(usd) >= 1e-4) return fmt::format("${:.3g}", usd);
  // Without an exponent, as money is written.
  const int decimals = std::min(2 - static_cast<int>(std::floor(std::log10(std::abs(usd)))), 18);
  return fmt::format("${:.{}f}", usd, decimals);
}

std::string with_margin(double mean, double margin, std::string (*text)(double)) {
  const std::string written = text(mean);
  if (!std::isfinite(margin)) return written;
  const std::size_t digits = written.find_first_of("0123456789");
  const auto spaces = std::count(written.begin(), written.end(), ' ');
  // A unit such as "min 20 s" has no number of its own to share.
  if (digits == std::string::npos || spaces > 1 || mean == 0.0) return written + " ± " + text(margin);
  // Units are powers of ten of the number; its digits are rounded.
  const double in_unit =
      margin * std::pow(10.0, std::round(std::log10(std::stod(written.substr(digits)) / std::abs(mean))));
  // Without an exponent, as the number beside it.
  const int decimals = in_unit > 0.0 && in_unit < 1e-3 ? 1 - static_cast<int>(std::floor(std::log10(in_unit))) : 0;
  return written + " ± " +
         (decimals > 0     ? fmt::format("{:.{}f}", in_unit, std::min(decimals, 18))
          : in_unit < 9.95 ? fmt::format("{:.2g}", in_unit)
                           : fmt::format("{:.0f}", in_unit));
}

std::string joules(double energy_j) {
  static constexpr const char* units[] = {" mJ", " J", " kJ", " MJ", " GJ", " TJ"};
  return scaled(energy_j * 1e3, units);
}

}  // namespace simgrad::outputs

#include "outputs/text/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "outputs/text/language.h"

namespace simgrad::outputs {
namespace {

constexpr const char* no_number = "-";
/// Numbers from here on have an exponent, and so have numbers below `exponent_below`.
constexpr double exponent_from = 1e12;
constexpr double exponent_from_usd = 1e15;
constexpr double exponent_below = 1e-6;
constexpr double exponent_below_of_money = 1e-9;  // and of percentages
constexpr std::size_t whole_digits_unseparated = 4;

/// Separates the thousands of a number with more whole digits than `unseparated`.
std::string separated(std::string number, std::size_t unseparated = whole_digits_unseparated) {
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  std::size_t at = std::min(number.find('.'), number.size());
  if (at - first <= unseparated) return number;
  for (; at > first + 3; number.insert(at, ",")) at -= 3;
  return number;
}

/// Returns the exponent of ten of the number once it is rounded to so many digits: 0 of 9.99, 1 of 9.996.
int decade(double value, int significant) {
  const std::string text = fmt::format("{:.{}e}", value, significant - 1);
  return std::stoi(text.substr(text.find('e') + 1));
}

/// "1.23e300", "4.94e-324".
std::string with_exponent(double value, int significant) {
  const std::string text = fmt::format("{:.{}e}", value, significant - 1);
  return fmt::format("{}e{}", text.substr(0, text.find('e')), decade(value, significant));
}

/// Returns at least this many digits that matter, zeros at the end too: "0.0120", "12.0", "1200".
std::string all_digits(double value, int significant, double from = exponent_below) {
  if (!std::isfinite(value)) return no_number;
  if (value == 0.0) return "0";
  if (std::abs(value) >= exponent_from || std::abs(value) < from) return with_exponent(value, significant);
  const int decimals = std::max(significant - 1 - decade(value, significant), 0);
  return separated(fmt::format("{:.{}f}", value, decimals));
}

/// Leaves out zeros at the end, before an exponent too, but for the first decimals.
std::string without_zeros(const std::string& number, std::size_t decimals = 0) {
  const std::size_t point = number.find('.'), end = std::min(number.find('e'), number.size());
  if (point == std::string::npos) return number;
  std::string kept = number.substr(0, end);
  while (kept.back() == '0' && kept.size() > point + 1 + decimals) kept.pop_back();
  if (kept.back() == '.') kept.pop_back();
  return kept + number.substr(end);
}

struct Scale {
  double size;
  const char* name;
};
using Scales = std::span<const Scale>;

constexpr Scale times_units[] = {{1e-9, " ns"},  {1e-6, " µs"},  {1e-3, " ms"},  {1.0, " s"},
                                 {60.0, " min"}, {3600.0, " h"}, {86400.0, " d"}};
constexpr std::size_t seconds_unit = 3;
constexpr Scale bytes_units[] = {{1.0, " B"},   {1e3, " kB"},  {1e6, " MB"}, {1e9, " GB"},
                                 {1e12, " TB"}, {1e15, " PB"}, {1e18, " EB"}};
constexpr Scale counts_units[] = {{1.0, ""}, {1e3, " k"}, {1e6, " M"}, {1e9, " G"}, {1e12, " T"}};
constexpr Scale joules_units[] = {{1e-3, " mJ"}, {1.0, " J"}, {1e3, " kJ"}, {1e6, " MJ"}, {1e9, " GJ"}, {1e12, " TJ"}};

Scales units_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::time:
      return times_units;
    case Quantity::bytes:
      return bytes_units;
    case Quantity::count:
      return counts_units;
    case Quantity::energy:
      return joules_units;
  }
  return {};
}

/// Returns the place of the first of the units, each 1000 times the one before, in which three digits are enough.
std::size_t fitting(double value, Scales units) {
  std::size_t unit = 0;
  while (std::abs(value) / units[unit].size >= 999.5 && unit + 1 < units.size()) ++unit;
  return unit;
}

std::string scaled(double value, Scales units) {
  if (!std::isfinite(value)) return no_number;
  if (value == 0.0) return fmt::format("0{}", std::ranges::find(units, 1.0, &Scale::size)->name);
  const Scale& unit = units[fitting(value, units)];
  return three_digits(value / unit.size) + unit.name;
}

/// A whole number of the smallest unit stays whole.
std::string whole_or_scaled(double value, Scales units) {
  const bool stays = std::abs(value) < 999.5 && value == std::round(value);
  return stays ? fmt::format("{:.0f}{}", value + 0.0, units[0].name) : scaled(value, units);
}

std::int64_t minutes(double seconds) { return std::llround(seconds / 60.0); }

constexpr double seconds_most = 59.95;
constexpr std::int64_t minutes_most = 48 * 60;
constexpr double days_with_hours = 1000.0;

/// Returns the place of the first unit of the text of a duration.
std::size_t unit_of_duration(double seconds) {
  const double size = std::abs(seconds);
  if (size < seconds_most) return fitting(seconds, Scales(times_units).first(seconds_unit + 1));
  if (std::round(size) < 3600.0) return seconds_unit + 1;
  return size < 1e6 && minutes(size) < minutes_most ? seconds_unit + 2 : seconds_unit + 3;
}

std::size_t natural_unit(Quantity quantity, double value) {
  return quantity == Quantity::time ? unit_of_duration(value) : fitting(value, units_of(quantity));
}

std::string natural_text(Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::time:
      return duration(value);
    case Quantity::bytes:
      return byte_count(value);
    case Quantity::count:
      return count(value);
    case Quantity::energy:
      return joules(value);
  }
  return {};
}

/// Returns the number of a cell whose column has one unit: of small ones, too, three digits.
std::string cell_number(double value) { return std::abs(value) < 0.9995 ? number_text(value) : three_digits(value); }

/// Returns how many letters the number takes in the unit; very many where it is no number then.
std::size_t letters_of(double value, const Scale& unit) {
  constexpr std::size_t very_many = 1000;
  return std::isfinite(value / unit.size) ? cell_number(value / unit.size).size() : very_many;
}

}  // namespace

std::string number_text(double value, int significant) { return without_zeros(all_digits(value, significant)); }

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value) || size >= exponent_from || size < 0.0995) return number_text(value, 3);
  // The thresholds are where rounding reaches the next power of ten: 9.996 is "10.0", not "10.00".
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return separated(fmt::format("{:.{}f}", value, decimals));
}

std::string whole(double value) {
  return std::isfinite(value) && std::abs(value) < exponent_from
             ? separated(fmt::format("{:.0f}", std::round(value) + 0.0))
             : all_digits(value, 3);
}

std::string speedup_text(double ratio) {
  return std::isfinite(ratio) ? tr("{}x", three_digits(ratio)) : std::string(no_number);
}

std::string percentage(double share, int significant) {
  const double hundredths = 100.0 * share;
  if (!std::isfinite(hundredths)) return no_number;
  const bool thousands = std::abs(hundredths) >= 999.5 && std::abs(hundredths) < exponent_from;
  return (thousands ? separated(fmt::format("{:.0f}", hundredths), 3)
                    : without_zeros(all_digits(hundredths, significant, exponent_below_of_money))) +
         " %";
}

std::string more_than(double excess) {
  return excess >= 9.0 ? fmt::format("{} times as much", number_text(1.0 + excess))
                       : fmt::format("{} more", percentage(excess));
}

std::string duration(double seconds) {
  if (seconds < 0.0) return "-" + duration(-seconds);
  if (!std::isfinite(seconds)) return no_number;
  if (seconds < seconds_most) return scaled(seconds, Scales(times_units).first(seconds_unit + 1));
  if (seconds >= days_with_hours * 86400.0) return three_digits(seconds / 86400.0) + " d";
  const std::int64_t whole_s = std::llround(seconds);
  if (whole_s < 3600) return fmt::format("{} min {} s", whole_s / 60, whole_s % 60);
  const std::int64_t whole_min = minutes(seconds);
  if (whole_min < minutes_most) return fmt::format("{} h {} min", whole_min / 60, whole_min % 60);
  const std::int64_t whole_h = std::llround(seconds / 3600.0);
  return fmt::format("{} d {} h", whole_h / 24, whole_h % 24);
}

std::string byte_count(double bytes) { return whole_or_scaled(bytes, bytes_units); }

std::string count(double number) { return whole_or_scaled(number, counts_units); }

std::string flops_text(double flops) {
  return flops < 999.5e12 ? count(flops) : fmt::format("{} P", three_digits(flops / 1e15));
}

std::string dollars(double usd) {
  if (usd < 0.0) return "-" + dollars(-usd);
  if (!std::isfinite(usd)) return no_number;
  if (usd == 0.0) return "$0.00";
  if (usd >= exponent_from_usd || usd < exponent_below_of_money) return "$" + with_exponent(usd, 3);
  if (usd >= 0.995) return "$" + separated(fmt::format("{:.2f}", usd), 3);
  const int second_digit = 1 - decade(usd, 3);
  return "$" + without_zeros(all_digits(usd, 3, exponent_below_of_money),
                             static_cast<std::size_t>(std::max(second_digit, 2)));
}

std::string joules(double energy_j) { return scaled(energy_j, joules_units); }

bool shows_margin(double mean, double margin) {
  constexpr double of_rounding = 1e-9;
  return std::isfinite(margin) && margin > of_rounding * std::abs(mean);
}

std::string with_margin(double mean, double margin, const std::function<std::string(double)>& text) {
  std::string written = text(mean);
  if (!shows_margin(mean, margin)) return written;
  const std::size_t first = written.find_first_of("0123456789");
  const auto spaces = std::count(written.begin(), written.end(), ' ');
  // A unit such as "min 20 s" has no number of its own to share.
  if (first == std::string::npos || spaces > 1 || mean == 0.0) return written + " ± " + text(margin);
  std::string number = written.substr(first);
  std::erase(number, ',');
  const double shown = std::stod(number);
  // Units of time are no powers of ten of each other, and digits are rounded: the unit is that of the quotient.
  const double exact = std::abs(mean) / shown;
  double size = std::pow(10.0, std::round(std::log10(exact)));
  for (const double unit : {60.0, 3600.0, 86400.0})
    if (std::abs(exact / unit - 1.0) < std::abs(exact / size - 1.0)) size = unit;
  return written + " ± " + all_digits(margin / size, 2, exponent_below_of_money);
}

ColumnUnit::ColumnUnit(Quantity quantity, const std::vector<double>& column) : quantity_(quantity) {
  std::vector<double> numbers;
  for (const double value : column)
    if (std::isfinite(value) && value != 0.0) numbers.push_back(value);
  const Scales units = units_of(quantity);
  unit_ = static_cast<std::size_t>(std::ranges::find(units, 1.0, &Scale::size) - units.begin());
  if (numbers.empty()) return;
  unit_ = natural_unit(quantity, numbers.front());
  natural_ = std::ranges::all_of(numbers, [&](double value) { return natural_unit(quantity, value) == unit_; });
  if (natural_) return;
  std::ranges::sort(numbers, {}, [](double value) { return std::abs(value); });
  // The longest text of the least, the median and the largest number decides, then how many are below 1, then the
  // larger unit.
  const double shown[] = {numbers.front(), numbers[numbers.size() / 2], numbers.back()};
  std::pair<std::size_t, std::size_t> least{~std::size_t{0}, 0};
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    std::pair<std::size_t, std::size_t> letters{0, 0};
    for (const double value : shown) {
      letters.first = std::max(letters.first, letters_of(value, units[unit]));
      letters.second += std::abs(value) < 0.9995 * units[unit].size ? 1U : 0U;
    }
    if (letters > least) continue;
    least = letters;
    unit_ = unit;
  }
}

std::string ColumnUnit::text(double value) const {
  if (!std::isfinite(value)) return no_number;
  const Scale& unit = units_of(quantity_)[unit_];
  if (value == 0.0) return fmt::format("0{}", unit.name);
  return natural_ ? natural_text(quantity_, value) : cell_number(value / unit.size) + unit.name;
}

std::vector<std::string> column_texts(Quantity quantity, const std::vector<double>& column) {
  const ColumnUnit unit(quantity, column);
  std::vector<std::string> texts;
  for (const double value : column) texts.push_back(unit.text(value));
  return texts;
}

}  // namespace simgrad::outputs

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "base/prefixes.h"
#include "base/text.h"

namespace simgrad::base {

namespace {

/// One way to write a unit: a number n before it means n * 10^decimal * factor / divisor.
/// Powers of ten go into the number's text, so that "50us" is the double nearest to 5e-5 and not 50 * 1e-6.
struct Spelling {
  std::string text;
  int decimal = 0;
  double factor = 1.0;
  double divisor = 1.0;
};

struct Base {
  std::string_view text;
  double divisor;
};

std::vector<Spelling> with_prefixes(std::span<const Base> bases, bool binary) {
  std::vector<Spelling> all;
  const auto add = [&](const Base& base, const Prefix& prefix) {
    all.push_back({fmt::format("{}{}", prefix.text, base.text), prefix.decimal, prefix.factor, base.divisor});
  };
  for (const Base& base : bases) {
    for (const Prefix& prefix : decimal_prefixes) add(base, prefix);
    if (!binary) continue;
    for (const Prefix& prefix : binary_prefixes) add(base, prefix);
  }
  return all;
}

std::vector<Spelling> per_gigabyte(std::string_view then) {
  std::vector<Spelling> all;
  for (const char* dollar : {"$", "USD"})
    for (const Spelling& size : {Spelling{"GB"}, {"MB", 3}, {"TB", -3}, {"GiB", 0, 1.0, 1.073741824}})
      all.push_back({fmt::format("{}/{}{}", dollar, size.text, then), size.decimal, size.factor, size.divisor});
  return all;
}

/// Spellings of a unit with two names, of which the second is `times` the first.
std::vector<Spelling> with_second_prefixes(std::string_view first, std::string_view second, double times) {
  std::vector<Spelling> all;
  for (const Prefix& prefix : second_prefixes) {
    all.push_back({fmt::format("{}{}", prefix.text, first), prefix.decimal});
    all.push_back({fmt::format("{}{}", prefix.text, second), prefix.decimal, times, 1.0});
  }
  return all;
}

const std::vector<Spelling>& spellings(Unit unit) {
  // Both micro signs: U+00B5, which keyboards make, and the Greek letter U+03BC, which Unicode prefers.
  static const std::vector<Spelling> times{{"s"},      {"ms", -3},  {"us", -6},     {"\u00b5s", -6}, {"\u03bcs", -6},
                                           {"ns", -9}, {"ps", -12}, {"min", 0, 60}, {"h", 0, 3600},  {"d", 0, 86400}};
  static const std::vector<Spelling> sizes = with_prefixes(
      std::array<Base, 6>{{{"B", 1}, {"byte", 1}, {"bytes", 1}, {"b", 8}, {"bit", 8}, {"bits", 8}}}, true);
  static const std::vector<Spelling> rates = with_prefixes(
      std::array<Base, 6>{{{"bps", 8}, {"Bps", 1}, {"b/s", 8}, {"B/s", 1}, {"bit/s", 8}, {"byte/s", 1}}}, true);
  static const std::vector<Spelling> speeds = with_prefixes(
      std::array<Base, 8>{
          {{"F", 1}, {"f", 1}, {"FLOPS", 1}, {"flops", 1}, {"FLOP/s", 1}, {"flop/s", 1}, {"Flops", 1}, {"Flop/s", 1}}},
      false);
  static const std::vector<Spelling> wages{{"$/h"}, {"USD/h"}, {"$/hour"}};
  static const std::vector<Spelling> tolls = per_gigabyte("");
  static const std::vector<Spelling> rents = per_gigabyte("/month");
  static const std::vector<Spelling> powers{{"W"}, {"mW", -3}, {"kW", 3}, {"MW", 6}};
  static const std::vector<Spelling> energies = with_second_prefixes("J/B", "J/bit", 8.0);
  static const std::vector<Spelling> carbons{{"gCO2/kWh"}, {"g/kWh"}, {"gCO2e/kWh"}, {"kgCO2/kWh", 3}, {"kg/kWh", 3}};
  switch (unit) {
    case Unit::seconds:
      return times;
    case Unit::bytes:
      return sizes;
    case Unit::bytes_per_second:
      return rates;
    case Unit::flops_per_second:
      return speeds;
    case Unit::dollars_per_hour:
      return wages;
    case Unit::dollars_per_gigabyte:
      return tolls;
    case Unit::dollars_per_gigabyte_month:
      return rents;
    case Unit::watts:
      return powers;
    case Unit::joules_per_byte:
      return energies;
    case Unit::grams_per_kilowatt_hour:
      return carbons;
  }
  invariant_broken("an unknown unit", std::source_location::current());
}

const Spelling* find(Unit unit, std::string_view text) {
  for (const Spelling& spelling : spellings(unit))
    if (spelling.text == text) return &spelling;
  return nullptr;
}

/// The units that a message lists; the prefixed ones by example.
std::string_view accepted(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "ns, us, ms, s, min, h, d";
    case Unit::bytes:
      return "b, bit, B, byte with k, M, G, T, P (1000) or Ki, Mi, Gi, Ti, Pi (1024)";
    case Unit::bytes_per_second:
      return "bps, bit/s, Bps, B/s with k, M, G, T, P (1000) or Ki, Mi, Gi, Ti, Pi (1024)";
    case Unit::flops_per_second:
      return "F, FLOPS, FLOP/s with k, M, G, T, P, E";
    case Unit::dollars_per_hour:
      return "$/h, USD/h";
    case Unit::dollars_per_gigabyte:
      return "$/MB, $/GB, $/GiB, $/TB";
    case Unit::dollars_per_gigabyte_month:
      return "$/GB/month, $/GiB/month, $/TB/month";
    case Unit::watts:
      return "mW, W, kW, MW";
    case Unit::joules_per_byte:
      return "J/B, J/bit with m, u, n, p";
    case Unit::grams_per_kilowatt_hour:
      return "gCO2/kWh, kgCO2/kWh";
  }
  return "";
}

bool digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// "-1.5e-3 us" in its parts: "-1.5", -3, "us".
struct Parts {
  std::string_view number{};    ///< with its exponent, as written
  std::string_view mantissa{};  ///< empty if the text does not begin with a number
  std::string_view exponent{};
  std::string_view unit{};
};

Parts split(std::string_view text) {
  std::size_t at = 0;
  const auto skip_digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && digit(text[at])) ++at;
    return at - from;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  std::size_t digits = skip_digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    digits += skip_digits();
  }
  if (digits == 0) return {};
  Parts parts{.mantissa = text.substr(0, at)};
  // An "E" is an exponent only if digits follow: "1EF" is an exaflop a second.
  if (const std::size_t e = at; e < text.size() && (text[e] == 'e' || text[e] == 'E')) {
    at = e + 1;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t from = text[at - 1] == '+' ? at : e + 1;
    if (skip_digits() > 0)
      parts.exponent = text.substr(from, at - from);
    else
      at = e;
  }
  parts.number = text.substr(0, at);
  parts.unit = trimmed(text.substr(at));
  return parts;
}

/// The double nearest to mantissa * 10^(exponent + shift); nothing if a double cannot hold it.
double decimal(const Parts& parts, int shift) {
  int exponent = 0;
  if (!parts.exponent.empty()) {
    const char* end = parts.exponent.data() + parts.exponent.size();
    if (std::from_chars(parts.exponent.data(), end, exponent).ec != std::errc() || std::abs(exponent) > 9999)
      return NAN;
  }
  const std::string_view mantissa = parts.mantissa.front() == '+' ? parts.mantissa.substr(1) : parts.mantissa;
  const std::string text = fmt::format("{}e{}", mantissa, exponent + shift);
  double value = 0.0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() ? value : NAN;
}

[[noreturn]] void refuse_unit(std::string_view text, const Parts& parts, Unit unit) {
  std::vector<std::string> known;
  for (const Spelling& spelling : spellings(unit)) known.push_back(spelling.text);
  std::string meant = closest(parts.unit, known);
  // The most frequent omissions: "10Gb" for a bandwidth, "5m" for minutes.
  if (const std::string longer = fmt::format("{}ps", parts.unit); unit == Unit::bytes_per_second && find(unit, longer))
    meant = longer;
  if (unit == Unit::seconds && parts.unit == "m") meant = "min";
  if (!meant.empty())
    throw std::invalid_argument(
        fmt::format("unknown unit \"{}\" in \"{}\"; did you mean \"{}{}\"?", parts.unit, text, parts.number, meant));
  throw std::invalid_argument(fmt::format("unknown unit \"{}\" in \"{}\"; expected {}, as in \"{}\"; known: {}",
                                          parts.unit, text, unit_name(unit).measures, unit_name(unit).example,
                                          accepted(unit)));
}

}  // namespace

double parse_quantity(std::string_view written, Unit unit) {
  const std::string_view text = trimmed(written);
  const UnitName name = unit_name(unit);
  const Parts parts = split(text);
  if (parts.mantissa.empty())
    throw std::invalid_argument(
        fmt::format("expected {}, as in \"{}\"; found \"{}\"", name.measures, name.example, text));
  if (parts.unit.empty())
    throw std::invalid_argument(
        fmt::format("{} needs a unit, as in \"{}\"; found \"{}\"", name.measures, name.example, text));
  const Spelling* spelling = find(unit, parts.unit);
  if (!spelling) refuse_unit(text, parts, unit);
  const double value = decimal(parts, spelling->decimal) * spelling->factor / spelling->divisor;
  if (!std::isfinite(value)) throw std::invalid_argument(fmt::format("\"{}\" is beyond the range of a number", text));
  return value;
}

UnitName unit_name(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return {"a time", "50us"};
    case Unit::bytes:
      return {"a size", "16GiB"};
    case Unit::bytes_per_second:
      return {"a bandwidth", "10Gbps"};
    case Unit::flops_per_second:
      return {"a speed", "10GF"};
    case Unit::dollars_per_hour:
      return {"a price by the hour", "2.48$/h"};
    case Unit::dollars_per_gigabyte:
      return {"a price by size", "0.09$/GB"};
    case Unit::dollars_per_gigabyte_month:
      return {"a price of storage", "0.02$/GB/month"};
    case Unit::watts:
      return {"a power", "300W"};
    case Unit::joules_per_byte:
      return {"an energy by size", "10nJ/B"};
    case Unit::grams_per_kilowatt_hour:
      return {"a carbon intensity", "400gCO2/kWh"};
  }
  invariant_broken("an unknown unit", std::source_location::current());
}

}  // namespace simgrad::base

#include "scenario/formula_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <system_error>

#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

[[noreturn]] void refuse_argument(const std::string& fault) { throw std::invalid_argument(fault); }

/// The length of the number at the beginning of the text, or 0.
std::size_t number_length(std::string_view text) {
  const auto digits = [&](std::size_t from) {
    while (from < text.size() && text[from] >= '0' && text[from] <= '9') ++from;
    return from;
  };
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  std::size_t end = digits(sign);
  if (end == sign) return 0;
  if (end < text.size() && text[end] == '.' && digits(end + 1) > end + 1) end = digits(end + 1);
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t exponent = end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') ? 2 : 1;
    if (digits(end + exponent) > end + exponent) end = digits(end + exponent);  // else a unit: 5EF
  }
  return end;
}

constexpr std::array all_units{base::Unit::seconds,
                               base::Unit::bytes,
                               base::Unit::bytes_per_second,
                               base::Unit::flops_per_second,
                               base::Unit::dollars_per_hour,
                               base::Unit::dollars_per_gigabyte,
                               base::Unit::dollars_per_gigabyte_month,
                               base::Unit::watts,
                               base::Unit::joules_per_byte,
                               base::Unit::grams_per_kilowatt_hour};

}  // namespace

Argument parse_argument(std::string_view text) {
  const std::size_t length = number_length(text);
  if (length == 0)
    refuse_argument(fmt::format("\"{}\" is no number; expected numbers, or quantities such as 10Gbps", text));
  Argument read{.text = text, .number = {}, .unit = trimmed(text.substr(length))};
  const std::string_view number = text.substr(0, length);
  const auto power = std::min(number.find_first_of("eE"), length);
  bool behind_point = false;
  for (const char c : number.substr(0, power)) {
    if (c == '.') behind_point = true;
    if (c < '0' || c > '9') continue;
    if (read.number.mantissa > (mantissa_most - (c - '0')) / 10)
      refuse_argument(fmt::format("{} has more than 18 digits", number));
    read.number.mantissa = 10 * read.number.mantissa + (c - '0');
    if (behind_point) --read.number.exponent;
  }
  read.number.whole = !behind_point && power == length;
  if (number.front() == '-') read.number.mantissa = -read.number.mantissa;
  if (power < length) {
    int exponent = 0;
    const char* from = number.data() + power + (number[power + 1] == '+' ? 2 : 1);
    if (std::from_chars(from, number.data() + length, exponent).ec != std::errc() || std::abs(exponent) > 300)
      refuse_argument(fmt::format("{} has an exponent that no number has", number));
    read.number.exponent += exponent;
  }
  return read;
}

std::optional<base::Unit> measure_of(std::string_view unit) {
  for (const base::Unit each : all_units) try {
      base::parse_quantity(fmt::format("1{}", unit), each);
      return each;
    } catch (const std::invalid_argument&) {
      continue;
    }
  return std::nullopt;
}

double nearest_double(std::int64_t mantissa, int exponent) {
  const std::string text = fmt::format("{}e{}", mantissa, exponent);
  double number = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace simgrad::scenario

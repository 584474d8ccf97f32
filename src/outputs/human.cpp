#include "outputs/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <sstream>

#include "outputs/characters.h"

namespace simgrad::outputs {
namespace {

/// The bytes at the beginning that take at most so many columns.
std::size_t prefix_bytes(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0, taken = 0;
  while (bytes < text.size()) {
    const Character next = first_character(text.substr(bytes));
    taken += columns_of(next.code);
    if (taken > columns) break;
    bytes += next.bytes;
  }
  return bytes;
}

/// The end of the text that takes at most so many columns; a mark that joins what was cut off goes with it.
std::string_view suffix(std::string_view text, std::size_t columns) {
  std::size_t left = display_width(text);
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t own = columns_of(next.code);
    if (left <= columns && own > 0) break;
    left -= own;
    text.remove_prefix(next.bytes);
  }
  return text;
}

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

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds == 0.0) return "0 s";
  static constexpr const char* units[] = {" ns", " µs", " ms", " s"};
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

std::string dollars(double usd) {
  if (std::abs(usd) >= 0.995 || usd == 0.0) return fmt::format("${:.2f}", usd);
  if (std::abs(usd) >= 1e-4) return fmt::format("${:.3g}", usd);
  // Without an exponent, as money is written.
  const int decimals = std::min(2 - static_cast<int>(std::floor(std::log10(std::abs(usd)))), 18);
  return fmt::format("${:.{}f}", usd, decimals);
}

std::string joules(double energy_j) {
  static constexpr const char* units[] = {" mJ", " J", " kJ", " MJ", " GJ", " TJ"};
  return scaled(energy_j * 1e3, units);
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    columns += columns_of(next.code);
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU) c = ' ';
  }
  return result;
}

std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  return width == 0 ? "" : std::string(text.substr(0, prefix_bytes(text, width - 1))) + "…";
}

std::string cut_middle(std::string_view text, std::size_t width) {
  const std::size_t whole = display_width(text);
  if (whole <= width || width < 3) return cut(text, width);
  const std::size_t head = width / 2;
  const std::size_t tail = width - head - 1;
  return std::string(text.substr(0, prefix_bytes(text, head))) + "…" + std::string(suffix(text, tail));
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string padded(std::string_view text, std::size_t width, Align align, std::string_view filling) {
  const std::size_t taken = display_width(text);
  const std::size_t gap = taken < width ? width - taken : 0;
  const std::size_t left = align == Align::left ? 0 : align == Align::right ? gap : gap / 2;
  return repeated(filling, left) + std::string(text) + repeated(filling, gap - left);
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::istringstream words(printable(text));
  std::string lines;
  std::string line;
  std::size_t taken = 0;  // columns of `line`
  for (std::string word; words >> word;) {
    std::size_t size = display_width(word);
    if (!line.empty() && taken + 1 + size > width) {
      lines += line + '\n';
      line = "  ";
      taken = 2;
    } else if (!line.empty()) {
      line += ' ';
      ++taken;
    }
    while (taken + size > width && width > 3) {  // room for a wide character beside the indentation
      const std::size_t bytes = prefix_bytes(word, width - taken);
      lines += line + word.substr(0, bytes) + '\n';
      word.erase(0, bytes);
      line = "  ";
      taken = 2;
      size = display_width(word);
    }
    line += word;
    taken += size;
  }
  return lines + line + '\n';
}

}  // namespace simgrad::outputs

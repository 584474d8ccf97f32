#include "data/cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace simgrad::data {

namespace {

constexpr bool blank(char c) { return c == ' ' || c == '\t'; }

bool is_na(std::string_view text) {
  return text.size() == 2 && (text[0] == 'n' || text[0] == 'N') && (text[1] == 'a' || text[1] == 'A');
}

/// A text with a decimal comma: the same with a point is read.
Cell parse_with_comma(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return {Cell::Kind::text};
  std::string with_point(text);
  std::ranges::replace(with_point, ',', '.');
  return parse_cell(with_point);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

Cell parse_cell(std::string_view text, char decimal) {
  text = trimmed(text);
  if (decimal == ',' && text.find_first_of(".,") != std::string_view::npos) return parse_with_comma(text);
  if (text.empty() || text == "?") return {Cell::Kind::missing};

  // from_chars does not accept a plus. "+-1" stays a text.
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument)
    return {is_na(text) ? Cell::Kind::missing : Cell::Kind::text};
  // The number is too large or too small: strtod tells which, from_chars does not. This is rare, so the copy costs
  // nothing.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  if (std::isnan(value)) return {Cell::Kind::missing};
  if (std::isinf(value)) return {Cell::Kind::infinite};
  return {Cell::Kind::number, value};
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 40;
  const bool cut = text.size() > longest;
  if (cut) {
    text = text.substr(0, longest);
    // Does not cut a UTF-8 character in the middle: bytes 10xxxxxx continue one.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u) text.remove_suffix(1);
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0u) text.remove_suffix(1);
  }
  std::string all = "\"";
  for (const char c : text) all += static_cast<unsigned char>(c) < 0x20u || c == 0x7F ? '?' : c;
  return all + (cut ? "...\"" : "\"");
}

}  // namespace simgrad::data

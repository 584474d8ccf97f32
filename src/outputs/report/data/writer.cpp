#include "outputs/report/data/writer.h"

#include <array>
#include <charconv>
#include <cmath>

namespace simgrad::outputs::report {
namespace {

constexpr std::string_view escaped_replacement = "\\ufffd";

/// The length of the UTF-8 character that begins at `i`; 0 if none does.
std::size_t character_bytes(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U; };
  const auto follows = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80U) return 1;
  if (lead >= 0xC2U && lead <= 0xDFU) return follows(1) ? 2 : 0;
  if ((lead & 0xF0U) == 0xE0U) {
    const bool overlong = lead == 0xE0U && byte(1) < 0xA0U;
    const bool surrogate = lead == 0xEDU && byte(1) >= 0xA0U;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0U && lead <= 0xF4U) {
    const bool overlong = lead == 0xF0U && byte(1) < 0x90U;
    const bool beyond = lead == 0xF4U && byte(1) >= 0x90U;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void append_escape(std::string& text, unsigned char c) {
  static constexpr std::string_view digits = "0123456789abcdef";
  text += "\\u00";
  text += digits[c >> 4U];
  text += digits[c & 15U];
}

void append_quoted(std::string& text, std::string_view raw) {
  text += '"';
  for (std::size_t i = 0; i < raw.size();) {
    const char c = raw[i];
    const std::size_t bytes = character_bytes(raw, i);
    if (bytes == 0) {
      text += escaped_replacement;
    } else if (bytes > 1) {
      const std::string_view character = raw.substr(i, bytes);
      if (character == "\u2028" || character == "\u2029")
        text += character == "\u2028" ? "\\u2028" : "\\u2029";
      else
        text += character;
    } else if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20U || c == '<' || c == 0x7F) {
      append_escape(text, static_cast<unsigned char>(c));
    } else {
      text += c;
    }
    i += bytes == 0 ? 1 : bytes;
  }
  text += '"';
}

}  // namespace

void Writer::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

void Writer::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
}

void Writer::close(char bracket) {
  text_ += bracket;
  first_ = false;
}

void Writer::key(std::string_view name) {
  separate();
  append_quoted(text_, name);
  text_ += ':';
  first_ = true;  // no comma before its value
}

void Writer::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  std::array<char, 32> digits;
  text_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void Writer::rounded(double number, int most) {
  if (!std::isfinite(number)) return null();
  separate();
  std::array<char, 32> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::general, most);
  text_.append(digits.data(), end.ptr);
}

void Writer::value(std::int64_t number) {
  separate();
  std::array<char, 24> digits;
  text_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void Writer::value(bool flag) { raw(flag ? "true" : "false"); }

void Writer::value(std::string_view text) {
  separate();
  append_quoted(text_, text);
}

void Writer::null() { raw("null"); }

void Writer::raw(std::string_view json) {
  separate();
  text_ += json;
}

void Writer::rounded_member(std::string_view name, const std::vector<double>& numbers, int digits) {
  key(name);
  begin_array();
  for (const double number : numbers) rounded(number, digits);
  end_array();
}

void Writer::rounded_or_null(std::string_view name, const std::vector<double>& numbers, int digits) {
  if (!numbers.empty()) return rounded_member(name, numbers, digits);
  key(name);
  null();
}

}  // namespace simgrad::outputs::report

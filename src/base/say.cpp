#include "base/say.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace simgrad::base {

namespace {

constexpr std::size_t longest_line = 1000;

std::string (*translation)(std::string_view text) = nullptr;

std::uint8_t byte(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

/// Whether a terminal may be steered by the character: controls, and marks that turn the direction of writing or begin
/// a line.
bool steers(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/// The character that begins there; without bytes if it is no UTF-8 (a longer spelling than needed, half of a surrogate
/// pair).
CodePoint code_point_at(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte(text, at);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 && first <= 0xf4  ? 4
                            : first >= 0xe0 && first < 0xf0 ? 3
                            : first >= 0xc2 && first < 0xe0 ? 2
                                                            : 0;
  if (bytes == 0 || at + bytes > text.size()) return {};
  char32_t code = first & (0xffU >> (bytes + 1));
  for (std::size_t next = at + 1; next < at + bytes; ++next) {
    if ((byte(text, next) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(text, next) & 0x3fU);
  }
  const bool longer = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return longer || surrogate || code > 0x10ffff ? CodePoint{} : CodePoint{code, bytes};
}

/// The bytes of the character that begins there; 0 if it steers, or is no UTF-8.
std::size_t printable_bytes(std::string_view text, std::size_t at) {
  const CodePoint found = code_point_at(text, at);
  return steers(found.code) ? 0 : found.bytes;
}

/// At most the longest line, and then whole characters.
std::string cut(std::string line) {
  return line.size() <= longest_line ? line : beginning(line, longest_line) + " ...";
}

}  // namespace

CodePoint steering_at(std::string_view text, std::size_t at) {
  const CodePoint found = code_point_at(text, at);
  return found.bytes > 0 && steers(found.code) ? found : CodePoint{};
}

std::string beginning(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && bytes < text.size() && (static_cast<std::uint8_t>(text[bytes]) & 0xc0U) == 0x80U) --bytes;
  return std::string(text.substr(0, bytes));
}

std::string printable(std::string_view text) {
  std::string shown;
  // The runner skips blanks before a command, those of Unicode too: no visible ASCII may stand before it.
  const auto visible = [](char c) { return c > ' ' && c < '\x7f'; };
  const auto begin = static_cast<std::size_t>(std::ranges::find_if(text, visible) - text.begin());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool command = (at == begin && rest.starts_with("::")) || rest.starts_with("##[");
    const std::size_t bytes = command ? 0 : printable_bytes(text, at);
    shown += bytes > 0 ? std::string(text.substr(at, bytes)) : fmt::format("\\x{:02x}", byte(text, at));
    at += bytes > 0 ? bytes : 1;
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    shown += cut(printable(text.substr(from, end - from)));
    if (end < text.size()) shown += '\n';
    from = end + 1;
  }
  return shown;
}

void say(std::string_view text) {
  write_to_stderr(cut(printable(translation != nullptr ? translation(text) : std::string(text))) + "\n");
}

void say_in(std::string (*language)(std::string_view text)) { translation = language; }

void write_to_stderr(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stderr) != bytes.size()) std::clearerr(stderr);
}

}  // namespace simgrad::base

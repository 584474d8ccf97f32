#include "base/say.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>

namespace simgrad::base {

namespace {

constexpr std::size_t longest_line = 1000;

std::uint8_t byte(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

/// Whether a terminal may be steered by the character: controls, and marks that turn the direction of writing or begin
/// a line.
bool steers(char32_t code) {
  return (code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/// The bytes of the character that begins there; 0 if it steers, or is no UTF-8 (a longer spelling than needed, half of
/// a surrogate pair).
std::size_t printable_bytes(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte(text, at);
  if (first < 0x80) return steers(first) ? 0 : 1;
  const std::size_t bytes = first >= 0xf0 && first <= 0xf4  ? 4
                            : first >= 0xe0 && first < 0xf0 ? 3
                            : first >= 0xc2 && first < 0xe0 ? 2
                                                            : 0;
  if (bytes == 0 || at + bytes > text.size()) return 0;
  char32_t code = first & (0xffU >> (bytes + 1));
  for (std::size_t next = at + 1; next < at + bytes; ++next) {
    if ((byte(text, next) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(text, next) & 0x3fU);
  }
  const bool longer = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return longer || surrogate || code > 0x10ffff || steers(code) ? 0 : bytes;
}

}  // namespace

std::string printable_lines(std::string_view text) {
  std::string shown;
  std::size_t line = 0;  // bytes of the present one
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = printable_bytes(text, at);
    const std::string piece =
        bytes > 0 ? std::string(text.substr(at, bytes)) : fmt::format("\\x{:02x}", byte(text, at));
    at += bytes > 0 ? bytes : 1;
    if (piece == "\n") {
      shown += piece;
      line = 0;
      continue;
    }
    if (line <= longest_line) shown += line + piece.size() <= longest_line ? piece : " ...";
    line += line <= longest_line && line + piece.size() > longest_line ? longest_line + 1 : piece.size();
  }
  return shown;
}

void say(std::string_view text) { write_to_stderr(printable_lines(text) + "\n"); }

void write_to_stderr(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stderr) != bytes.size()) std::clearerr(stderr);
}

}  // namespace simgrad::base

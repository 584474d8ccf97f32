#include "scenario/depth.h"

#include <algorithm>

namespace simgrad::scenario {

namespace {

/// The place behind the string that begins at `from` with a quote. An unfinished string ends with its line, or with the
/// text.
std::size_t after_string(std::string_view text, std::size_t from) {
  const char quote = text[from];
  const std::string_view three = text.substr(from, 3);
  const bool long_one = three.size() == 3 && three[1] == quote && three[2] == quote;
  std::size_t at = from + (long_one ? 3 : 1);
  for (; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (long_one) {
      if (text.substr(at, 3) == three) return at + 3;
    } else if (text[at] == quote || text[at] == '\n') {
      return at + 1;
    }
  }
  return text.size();
}

}  // namespace

std::size_t too_deep_key(std::string_view toml) {
  std::size_t dots = 0;  // of the present key, or of a number, which has one
  for (std::size_t at = 0; at < toml.size();) {
    const char c = toml[at];
    if (c == '"' || c == '\'') {
      at = after_string(toml, at);  // a part of a key, or a value
      continue;
    }
    if (c == '#') {
      at = std::min(toml.find('\n', at), toml.size());
      continue;
    }
    if (c == '.') {
      if (++dots >= depth_most) return at + 1;
    } else if (c == '=' || c == '[' || c == ']' || c == '{' || c == '}' || c == ',' || c == '\n') {
      dots = 0;
    }
    ++at;
  }
  return std::string_view::npos;
}

}  // namespace simgrad::scenario

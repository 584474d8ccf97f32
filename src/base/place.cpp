#include "base/place.h"

#include <fmt/format.h>

#include <algorithm>

namespace simgrad::base {

std::string place_in(std::string_view text, std::size_t at, const std::string& file) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 in the first line
  return fmt::format("{}:{}:{}", file, 1 + std::ranges::count(before, '\n'), before.size() - line_begin + 1);
}

}  // namespace simgrad::base

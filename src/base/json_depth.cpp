#include "base/json_depth.h"

namespace simgrad::base {

std::size_t too_deep_json(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_text && c == '\\')
      ++at;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == ']' || c == '}'))
      --depth;
    else if (!in_text && (c == '[' || c == '{') && ++depth > json_depth_most)
      return at;
  }
  return std::string_view::npos;
}

}  // namespace simgrad::base

/// How deep a JSON text is nested, found before it is parsed.
#pragma once

#include <cstddef>
#include <string_view>

namespace simgrad::base {

/// The deepest level of lists and objects that is read.
inline constexpr int json_depth_most = 256;

/// The place of the first list or object beyond `json_depth_most` levels, or npos. Whoever parses, writes or destroys a
/// value calls itself for each level: 100,000 of them run over the stack.
std::size_t too_deep_json(std::string_view json);

}  // namespace simgrad::base

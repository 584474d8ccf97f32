/// How deep keys of a TOML text are nested, found before the text is parsed.
#pragma once

#include <cstddef>
#include <string_view>

namespace simgrad::scenario {

/// The deepest level of tables and lists that is read.
inline constexpr std::size_t depth_most = 256;

/// The place of the first part of a dotted key beyond `depth_most` parts, or npos. toml++ makes a table of each part,
/// and its destructor calls itself for each: 100,000 parts run over the stack.
std::size_t too_deep_key(std::string_view toml);

}  // namespace simgrad::scenario

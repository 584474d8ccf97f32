/// Limits of a TOML text: how deep keys are nested, which is found before it is parsed, and how long texts and tables
/// are.
#pragma once

#include <cstddef>
#include <string_view>

namespace simgrad::scenario {

/// The deepest level of tables and lists that is read.
inline constexpr std::size_t depth_most = 256;

/// The longest text of a value or a key, and the most keys of a table. No option's text is as long, and no section has
/// as many keys.
inline constexpr std::size_t string_bytes_most = 10'000;
inline constexpr std::size_t keys_most = 10'000;

/// The place of the first part of a dotted key beyond `depth_most` parts, or npos. toml++ makes a table of each part,
/// and its destructor calls itself for each: 100,000 parts run over the stack.
std::size_t too_deep_key(std::string_view toml);

}  // namespace simgrad::scenario

/// Characters of UTF-8 in a file's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simgrad::data {

/// The code point that begins at `at`, which is moved behind it.  path: for errors.
/// Errors: ScenarioError `path:line:column:` for bytes that are not UTF-8.
std::uint32_t next_code_point(const std::string& path, const std::string& text, std::size_t& at);

/// "path:line:column" of a byte of a text; columns are bytes, from 1.
std::string place_of_byte(const std::string& path, const std::string& text, std::size_t at);

}  // namespace simgrad::data

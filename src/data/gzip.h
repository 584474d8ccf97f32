/// Decompression of gzip files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simgrad::data {

/// Whether the bytes begin as a gzip file does, whatever its name.
bool gzipped(std::string_view bytes);

/// The first `most` bytes of what is compressed (members one behind the other count as one file), fewer if there are
/// fewer.  `path` is for errors.  Errors: ScenarioError `path: ...` for data that end early or are damaged.
/// Source: P. Deutsch, GZIP file format specification version 4.3, RFC 1952, 1996.
std::string inflated(std::string_view bytes, std::size_t most, const std::string& path);

}  // namespace simgrad::data

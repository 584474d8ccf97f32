/// Decompression of gzip files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simgrad::data {

/// Whether the bytes begin as a gzip file does.
bool gzipped(std::string_view bytes);

/// The first `most` decompressed bytes, or all if there are fewer; consecutive members count as one file.  `path` is
/// for errors.  Errors: ScenarioError `path: ...` for data that end early or are damaged.
/// Source: P. Deutsch, GZIP file format specification version 4.3, RFC 1952, 1996.
std::string inflated(std::string_view bytes, std::size_t most, const std::string& path);

}  // namespace simgrad::data

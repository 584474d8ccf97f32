/// Hashes of contents.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::base {

/// XXH3-128 of the bytes, as 32 hexadecimal digits: equal on every machine and in every release.
std::string hash(std::string_view bytes);

}  // namespace simgrad::base

/// A name for contents.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::base {

/// 32 hexadecimal digits: XXH3-128 of the bytes. The same on every machine and in every release.
std::string hash(std::string_view bytes);

}  // namespace simgrad::base

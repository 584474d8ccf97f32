/// Places in texts, for faults.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simgrad::base {

/// `file:line:column` of a byte of a text.
std::string place_in(std::string_view text, std::size_t at, const std::string& file);

}  // namespace simgrad::base

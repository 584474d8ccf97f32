/// The release; CMakeLists.txt says the same, and a test compares them.
#pragma once

namespace simgrad {

inline constexpr const char* version = "0.1.0";

}  // namespace simgrad

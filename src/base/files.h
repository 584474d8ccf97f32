/// Directories on the disk of the machine that simulates.
#pragma once

#include <filesystem>

namespace simgrad::base {

/// Makes the directory and its parents, unless they exist.  Errors: EnvironmentError.
void make_directory(const std::filesystem::path& path);

}  // namespace simgrad::base

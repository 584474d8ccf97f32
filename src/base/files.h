/// Directories on the disk of the machine that simulates.
#pragma once

#include <filesystem>

namespace simgrad::base {

/// Makes the directory and those above it; one that exists is left as it is.  Errors: EnvironmentError.
void make_directory(const std::filesystem::path& path);

}  // namespace simgrad::base

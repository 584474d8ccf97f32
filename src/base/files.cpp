#include "base/files.h"

#include <fmt/format.h>

#include <system_error>

#include "base/errors.h"

namespace simgrad::base {

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw EnvironmentError(fmt::format("{}: cannot be made: {}", path.string(), error.message()));
}

}  // namespace simgrad::base

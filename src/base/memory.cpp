#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace simgrad::base {

namespace {

std::optional<double> number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  double number = 0.0;
  if (!(in >> number)) return {};  // "max", say
  return number;
}

std::optional<double> available_to_all(const std::string& root) {
  std::ifstream in(root + "/proc/meminfo");
  std::string key, unit;
  for (double kib = 0.0; in >> key >> kib;) {
    if (key == "MemAvailable:") return 1024.0 * kib;
    std::getline(in, unit);
  }
  return {};
}

/// What the process's control group (version 2) and those above it leave of their limits.
std::optional<double> left_of_limits(const std::string& root) {
  std::ifstream in(root + "/proc/self/cgroup");
  std::string line, group;
  while (std::getline(in, line))
    if (line.starts_with("0::")) group = line.substr(3);
  std::optional<double> least;
  const std::filesystem::path top = root + "/sys/fs/cgroup";
  for (std::filesystem::path path = group; path.has_relative_path(); path = path.parent_path()) {
    const auto most = number_in(top / path.relative_path() / "memory.max");
    const auto taken = number_in(top / path.relative_path() / "memory.current");
    if (most && taken) least = std::min(least.value_or(*most), std::max(0.0, *most - *taken));
  }
  return least;
}

#if defined(__has_feature)
constexpr bool has_address_sanitizer = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool has_address_sanitizer = true;
#else
constexpr bool has_address_sanitizer = false;
#endif

struct rlimit address_space_limit() {
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  getrlimit(RLIMIT_AS, &limit);
  return limit;
}

std::optional<double> address_space_bytes() {
  const auto pages = number_in("/proc/self/statm");
  return pages ? std::optional(*pages * static_cast<double>(sysconf(_SC_PAGESIZE))) : std::nullopt;
}

std::optional<double> left_of_address_space() {
  const struct rlimit limit = address_space_limit();
  const auto taken = address_space_bytes();
  if (limit.rlim_cur == RLIM_INFINITY || !taken) return {};
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - *taken);
}

}  // namespace

std::optional<double> available_memory_bytes(const std::string& root) {
  std::optional<double> least;
  for (const auto& bytes : {available_to_all(root), left_of_limits(root), left_of_address_space()})
    if (bytes) least = std::min(least.value_or(*bytes), *bytes);
  return least;
}

void limit_memory(std::uintmax_t more_bytes) {
  const auto taken = address_space_bytes();
  if (has_address_sanitizer || !taken) return;
  struct rlimit limit = address_space_limit();
  const double bytes = *taken + static_cast<double>(more_bytes);
  if (bytes >= static_cast<double>(limit.rlim_cur)) return;
  limit.rlim_cur = static_cast<rlim_t>(bytes);
  setrlimit(RLIMIT_AS, &limit);
}

MemoryLimit::MemoryLimit(std::uintmax_t more_bytes) : before_(address_space_limit().rlim_cur) {
  limit_memory(more_bytes);
}

MemoryLimit::~MemoryLimit() {
  struct rlimit limit = address_space_limit();
  limit.rlim_cur = static_cast<rlim_t>(before_);
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace simgrad::base

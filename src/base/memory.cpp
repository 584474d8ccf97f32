#include "base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

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

/// The part of a control group's memory that is a cache of files, which Linux takes back when somebody needs the
/// memory.
double file_cache_bytes(const std::filesystem::path& group) {
  std::ifstream in(group / "memory.stat");
  std::string key;
  double cache = 0.0;
  for (double bytes = 0.0; in >> key >> bytes;)
    if (key == "inactive_file" || key == "active_file") cache += bytes;
  return cache;
}

/// The bytes that the process's control group (version 2) and the groups above it leave of their limits.
std::optional<double> left_of_limits(const std::string& root) {
  std::ifstream in(root + "/proc/self/cgroup");
  std::string line, group;
  while (std::getline(in, line))
    if (line.starts_with("0::")) group = line.substr(3);
  std::optional<double> least;
  const std::filesystem::path top = root + "/sys/fs/cgroup";
  for (std::filesystem::path path = group; path.has_relative_path(); path = path.parent_path()) {
    const std::filesystem::path group_path = top / path.relative_path();
    const auto most = number_in(group_path / "memory.max"), taken = number_in(group_path / "memory.current");
    if (!most || !taken) continue;
    const double held = std::max(0.0, *taken - file_cache_bytes(group_path));
    least = std::min(least.value_or(*most), std::max(0.0, *most - held));
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

std::uintmax_t half_of_free_memory() {
  const auto free = available_memory_bytes();
  return free ? static_cast<std::uintmax_t>(*free / 2.0) : std::numeric_limits<std::uintmax_t>::max();
}

void require_memory(double bytes, const std::string& what) {
  constexpr double always_there = 1 << 20;
  if (bytes <= always_there) return;
  const auto free = available_memory_bytes();
  if (!free || bytes <= *free) return;
  throw TooMuchMemory(fmt::format("{} would take {:.4g} MiB of memory; expected at most the {:.4g} MiB that are free",
                                  what, bytes / 0x1.0p20, *free / 0x1.0p20));
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

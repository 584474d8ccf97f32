#include "base/memory.h"

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

}  // namespace

std::optional<double> available_memory_bytes(const std::string& root) {
  const auto all = available_to_all(root), own = left_of_limits(root);
  if (all && own) return std::min(*all, *own);
  return all ? all : own;
}

}  // namespace simgrad::base

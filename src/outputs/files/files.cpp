#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>

#include "base/errors.h"
#include "outputs/results.h"

namespace simgrad::outputs {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void refuse(const std::string& path, const char* what, int reason) {
  throw base::EnvironmentError(fmt::format("{}: {}: {}", path, what, std::strerror(reason)));
}

/// Returns a temporary name beside the file, since a rename is atomic only within one file system. The name is random
/// rather than a process number: shards of one experiment may write to one directory from several hosts.
std::string temporary_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}.tmp", path, random(), random());
}

/// Writes the file; a mode with "x" refuses one that exists. Returns 0, or the system's error number.
int try_write(const std::string& path, const char* mode, const std::string& text) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) return errno;
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return errno;
  // A full disk may be reported only by the close.
  return std::fclose(file.release()) == 0 ? 0 : errno;
}

}  // namespace

void write_file(const std::string& path, const std::string& text) {
  // A device, a pipe or a link's target is written to, not replaced.
  std::error_code unknown;
  const auto status = std::filesystem::symlink_status(path, unknown);
  if (std::filesystem::is_other(status) || std::filesystem::is_symlink(status)) {
    if (const int reason = try_write(path, "wb", text); reason != 0) refuse(path, "cannot be written", reason);
    return;
  }
  const std::string temporary = temporary_name(path);
  int reason = try_write(temporary, "wbx", text);
  if (reason == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  std::remove(temporary.c_str());
  refuse(path, "cannot be written", reason);
}

std::string read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse(path, "cannot be opened", errno);
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), file.get())) text.append(block, 0, size);
  if (std::ferror(file.get()) != 0) refuse(path, "cannot be read", errno);
  return text;
}

void write_all(const Results& results, const std::string& directory) {
  std::error_code fault;
  std::filesystem::create_directories(directory, fault);
  if (fault) refuse(directory, "cannot be made", fault.value());
  const std::filesystem::path folder(directory);
  write_file(folder / "runs.csv", runs_csv(results));
  write_file(folder / "summary.csv", summary_csv(results));
  write_file(folder / "curves.csv", curves_csv(results));
  write_file(folder / "ranks.csv", ranks_csv(results));
  write_file(folder / "links.csv", links_csv(results));
  if (std::ranges::any_of(results.runs, [](const Run& run) { return !run.record.link_bins.empty(); }))
    write_file(folder / "link_utilisation.csv", link_utilisation_csv(results));
  // results.json comes last, so that a program that waits for it finds the other files.
  write_file(folder / "results.json", results_json(results));
}

}  // namespace simgrad::outputs

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>

#include "base/errors.h"
#include "outputs/files/temporary_name.h"
#include "outputs/result_tables.h"

namespace simgrad::outputs {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void refuse(const std::string& path, const char* what, int reason) {
  throw base::EnvironmentError(fmt::format("{}: {}: {}", path, what, std::strerror(reason)));
}

using Write = std::function<void(const Sink& sink)>;

/// Writes the file; a mode with "x" refuses one that exists. Returns 0, or the system's error number.
int try_write(const std::string& path, const char* mode, const Write& write) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) return errno;
  int reason = 0;
  write([&](std::string_view piece) {
    if (reason == 0 && std::fwrite(piece.data(), 1, piece.size(), file.get()) != piece.size()) reason = errno;
  });
  if (reason != 0) return reason;
  // A full disk may be reported only by the close.
  return std::fclose(file.release()) == 0 ? 0 : errno;
}

}  // namespace

std::string temporary_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}.tmp", path, random(), random());
}

void write_file(const std::string& path, const Write& write) {
  // A device, a pipe or a link's target is written to, not replaced.
  std::error_code unknown;
  const auto status = std::filesystem::symlink_status(path, unknown);
  if (std::filesystem::is_other(status) || std::filesystem::is_symlink(status)) {
    if (const int reason = try_write(path, "wb", write); reason != 0) refuse(path, "cannot be written", reason);
    return;
  }
  const std::string temporary = temporary_name(path);
  int reason = 0;
  try {
    reason = try_write(temporary, "wbx", write);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  if (reason == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  std::remove(temporary.c_str());
  refuse(path, "cannot be written", reason);
}

void write_file(const std::string& path, const std::string& text) {
  write_file(path, [&](const Sink& sink) { sink(text); });
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
  for (const ResultTable& table : result_tables(results))
    write_file(folder / (table.name + ".csv"), [&](const Sink& sink) { write_csv(table, sink); });
  // results.json comes last, so that a program that waits for it finds the other files.
  write_file(folder / "results.json", [&](const Sink& sink) { write_results_json(results, sink); });
}

}  // namespace simgrad::outputs

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/errors.h"
#include "base/files.h"
#include "outputs/files/temporary_file.h"
#include "outputs/result_tables.h"
#include "outputs/results_digest.h"

namespace simgrad::outputs {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void refuse(const std::string& path, const char* what, int reason) {
  throw base::EnvironmentError(fmt::format("{}: {}: {}", path, what, std::strerror(reason)));
}

/// Writes to what is there: a device, a pipe, the target of a link.
void write_in_place(const std::string& path, const std::function<void(const Sink& sink)>& write) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) refuse(path, "cannot be written", errno);
  write([&](std::string_view piece) {
    if (std::fwrite(piece.data(), 1, piece.size(), file.get()) != piece.size())
      refuse(path, "cannot be written", errno);
  });
  // A full disk may be reported only by the close.
  if (std::fclose(file.release()) != 0) refuse(path, "cannot be written", errno);
}

}  // namespace

void write_file(const std::string& path, const std::function<void(const Sink& sink)>& write) {
  renew_file(path, {}, write);
}

void renew_file(const std::string& path, const std::string& made_of,
                const std::function<void(const Sink& sink)>& write) {
  if (!made_of.empty() && is_made_of(path, made_of)) return;
  // A device, a pipe or a link's target is written to, not replaced.
  std::error_code unknown;
  const auto status = std::filesystem::symlink_status(path, unknown);
  if (std::filesystem::is_other(status) || std::filesystem::is_symlink(status)) return write_in_place(path, write);
  TemporaryFile file(path);
  write([&](std::string_view piece) { file.write(piece); });
  file.keep(made_of);
}

void write_file(const std::string& path, const std::string& text) {
  write_file(path, [&](const Sink& sink) { sink(text); });
}

std::string read_file(const std::string& path) {
  return base::read_file(path, {.bytes_most = base::bytes_of_free_memory(), .contents = base::Contents::bytes});
}

void write_all(const Results& results, const std::string& directory) {
  std::error_code fault;
  std::filesystem::create_directories(directory, fault);
  if (fault) refuse(directory, "cannot be made", fault.value());
  const std::filesystem::path folder(directory);
  const std::string made_of = digest(results);
  for (const ResultTable& table : result_tables(results))
    renew_file(folder / (table.name + ".csv"), made_of, [&](const Sink& sink) { write_csv(table, sink); });
  // results.json comes last, so that a program that waits for it finds the other files.
  renew_file(folder / "results.json", made_of, [&](const Sink& sink) { write_results_json(results, sink); });
}

}  // namespace simgrad::outputs

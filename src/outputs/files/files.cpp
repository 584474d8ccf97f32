#include "base/files.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "base/errors.h"
#include "outputs/files/file_in_place.h"
#include "outputs/files/temporary_file.h"
#include "outputs/result_tables.h"
#include "outputs/results_digest.h"

namespace simgrad::outputs {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* what, int reason) {
  throw base::EnvironmentError(fmt::format("{}: {}: {}", path, what, std::strerror(reason)));
}

}  // namespace

void write_file(const std::string& path, const std::function<void(const Sink& sink)>& write) {
  renew_file(path, {}, write);
}

void renew_file(const std::string& path, const std::string& made_of,
                const std::function<void(const Sink& sink)>& write) {
  if (!made_of.empty() && is_made_of(path, made_of)) return;
  TemporaryFile file(path);
  write([&](std::string_view piece) { file.write(piece); });
  file.keep(made_of);
}

void write_file(const std::string& path, const std::string& text) {
  write_file(path, [&](const Sink& sink) { sink(text); });
}

void renew_named_file(const std::string& path, const std::string& made_of,
                      const std::function<void(const Sink& sink)>& write) {
  if (!is_written_in_place(path)) return renew_file(path, made_of, write);
  FileInPlace file(path);
  write([&](std::string_view piece) { file.write(piece); });
  file.close();
}

void write_named_file(const std::string& path, const std::string& text) {
  renew_named_file(path, {}, [&](const Sink& sink) { sink(text); });
}

std::string read_file(const std::string& path) {
  return base::read_file(path, {.bytes_most = base::as_memory_allows, .contents = base::Contents::bytes});
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

#include "experiment/run/left_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "experiment/run/shared_numbers.h"
#include "outputs/files/temporary_file.h"

namespace simgrad::experiment {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 6> folders{"runs", "models", "timelines", "trajectories", "trace", "events"};
constexpr std::array<const char*, 4> files_beside{"trials.json", "link_utilisation.csv", "report.html",
                                                  "results.sqlite"};

/// The files in a folder whose names fit.
template <class Fits>
std::vector<std::string> files_in(const fs::path& folder, Fits fits) {
  std::vector<std::string> files;
  std::error_code unknown;
  for (fs::directory_iterator at(folder, unknown), end; !unknown && at != end; at.increment(unknown))
    if (fits(at->path().filename().string())) files.push_back(at->path().string());
  return files;
}

/// Whether a name begins with the id of a run, or is the key of a trajectory.
bool is_named_by_hash(std::string_view name) {
  constexpr std::size_t digits = 16;
  const std::size_t dot = std::min(name.find('.'), name.size());
  const auto hexadecimal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (dot != digits || !std::ranges::all_of(name.substr(0, dot), hexadecimal)) return false;
  constexpr std::array<std::string_view, 7> endings{
      "", ".json", ".json.damaged", ".json.gz", ".txt", ".model", SharedNumbers::state_extension};
  return std::ranges::find(endings, name.substr(dot)) != endings.end();
}

}  // namespace

void remove_temporary_files(const std::string& out) {
  std::vector<fs::path> places{out};
  for (const char* folder : folders) places.push_back(fs::path(out) / folder);
  for (const fs::path& place : places)
    for (const std::string& file : files_in(place, outputs::is_temporary_name)) outputs::remove_abandoned(file);
}

void remove_files_of_experiment(const std::string& out) {
  std::error_code stays;
  for (const char* folder : folders)
    for (const std::string& file : files_in(fs::path(out) / folder, is_named_by_hash)) fs::remove(file, stays);
  for (const char* file : files_beside) fs::remove(fs::path(out) / file, stays);
}

}  // namespace simgrad::experiment

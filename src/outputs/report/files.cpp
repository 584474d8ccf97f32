#include "outputs/report/files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/hash.h"
#include "outputs/results_reading.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::outputs::report {

Results read_results(const std::string& directory) {
  return read_results_json((std::filesystem::path(directory) / "results.json").string());
}

TimelineOf timelines_in(const std::string& directory) {
  return [directory](const std::string& id) { return read_timeline(directory, id); };
}

std::string state_of_timelines(const std::string& directory, const Results& results) {
  std::vector<std::uint64_t> state;
  for (const Run& run : results.runs) {
    struct stat file = {};
    if (stat(timeline_file(directory, run.id).c_str(), &file) != 0) file = {};
    for (const auto number : {file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec})
      state.push_back(static_cast<std::uint64_t>(number));
  }
  const base::Digest digest = base::digest(state);
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

}  // namespace simgrad::outputs::report

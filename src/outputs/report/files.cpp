#include "outputs/report/files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/hash.h"
#include "outputs/files/run_stem.h"
#include "outputs/report/charts/plan.h"
#include "outputs/results_reading.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::outputs::report {

namespace {

/// Whether `simgrad plan` has made them, and no later command.
bool are_of_plan(const Results& results) {
  const std::size_t space = results.command.find(' ');
  return space != std::string::npos && std::string_view(results.command).substr(space).starts_with(" plan ");
}

}  // namespace

Results read_results(const std::string& directory) {
  const std::filesystem::path path(directory);
  Results results = read_results_json((path / "results.json").string());
  const std::string plan = (path / "plan.json").string();
  std::error_code unknown;
  if (!std::filesystem::exists(plan, unknown) || !are_of_plan(results)) return results;
  results.plan = parsed(plan, [](const nlohmann::ordered_json& json) {
    plan_data(json);  // refuses what is no plan
    return json;
  });
  return results;
}

TimelineOf timelines_in(const std::string& directory) {
  return [directory](const std::string& stem) { return read_timeline(directory, stem); };
}

std::string state_of_timelines(const std::string& directory, const Results& results) {
  std::vector<std::uint64_t> state;
  for (const Run& run : results.runs) {
    struct stat file = {};
    if (stat(timeline_file(directory, run_stem(run)).c_str(), &file) != 0) file = {};
    for (const auto number : {file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec})
      state.push_back(static_cast<std::uint64_t>(number));
  }
  const base::Digest digest = base::digest(state);
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

}  // namespace simgrad::outputs::report

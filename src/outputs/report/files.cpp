#include "outputs/report/files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/errors.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::outputs::report {
namespace {

/// What a file's text means; a fault is the file's, not the system's.
template <class Meaning>
auto understood(const std::string& path, Meaning meaning) {
  const std::string text = read_file(path);
  try {
    return meaning(parse_json(text));
  } catch (const base::EnvironmentError& fault) {
    throw base::ScenarioError(fmt::format("{}: {}", path, fault.what()));
  }
}

}  // namespace

Results read_results(const std::string& directory) {
  return understood((std::filesystem::path(directory) / "results.json").string(), results_from_json);
}

TimelineOf timelines_in(const std::string& directory) {
  return [directory](const std::string& id) -> std::optional<record::Timeline> {
    const std::filesystem::path path = std::filesystem::path(directory) / "timelines" / (id + ".json");
    std::error_code fault;
    if (!std::filesystem::exists(path, fault)) return std::nullopt;
    return understood(path.string(), [&](const nlohmann::ordered_json& json) { return timeline_from_json(json, id); });
  };
}

}  // namespace simgrad::outputs::report

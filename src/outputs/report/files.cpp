#include "outputs/report/files.h"

#include <filesystem>

#include "outputs/results_reading.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::outputs::report {
Results read_results(const std::string& directory) {
  return read_results_json((std::filesystem::path(directory) / "results.json").string());
}

TimelineOf timelines_in(const std::string& directory) {
  return [directory](const std::string& id) -> std::optional<record::Timeline> {
    const std::filesystem::path path = std::filesystem::path(directory) / "timelines" / (id + ".json");
    std::error_code fault;
    if (!std::filesystem::exists(path, fault)) return std::nullopt;
    return parsed(path.string(), [&](const nlohmann::ordered_json& json) { return timeline_from_json(json, id); });
  };
}

}  // namespace simgrad::outputs::report

#include "outputs/report/files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/errors.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::outputs::report {
namespace {

/// Parses a file. A fault in its contents is a ScenarioError with the file's name.
template <class Parse>
auto parsed(const std::string& path, Parse parse) {
  const std::string text = read_file(path);
  nlohmann::ordered_json json;
  try {
    json = parse_json(text, path);
  } catch (const base::EnvironmentError& fault) {
    throw base::ScenarioError(fault.what());
  }
  try {
    return parse(json);
  } catch (const base::EnvironmentError& fault) {
    throw base::ScenarioError(fmt::format("{}: {}", path, fault.what()));
  }
}

}  // namespace

Results read_results(const std::string& directory) {
  return parsed((std::filesystem::path(directory) / "results.json").string(), results_from_json);
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

// Directories of results and of shards, compared.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "cli/scenario.h"

namespace simgrad::tests {

/// The text of runs.csv without its column wall_s.
inline std::string without_wall_s(const std::string& csv) {
  std::istringstream lines(csv);
  std::string text, line;
  std::size_t wall_s = std::string::npos;
  while (std::getline(lines, line)) {
    std::string cell;
    bool quoted = false;
    for (std::size_t at = 0, column = 0; at <= line.size(); ++at) {
      if (at < line.size() && line[at] == '"') quoted = !quoted;
      if (at < line.size() && (quoted || line[at] != ',')) {
        cell += line[at];
        continue;
      }
      if (cell == "wall_s") wall_s = column;
      if (column++ != wall_s) text += cell + ",";
      cell.clear();
    }
    text += "\n";
  }
  return text;
}

/// All files below a results directory but shards, by their path in it, without real times.
inline std::map<std::string, std::string> results_below(const std::string& directory) {
  static const std::regex wall_s(R"("wall_s":[^,}]*)");
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string name = std::filesystem::relative(entry.path(), directory).string();
    if (!entry.is_regular_file() || name.starts_with("shard-") || name.starts_with("trajectories")) continue;
    const std::string text = contents(entry.path().string());
    files[name] = name == "runs.csv" ? without_wall_s(text) : std::regex_replace(text, wall_s, "");
  }
  return files;
}

/// The files that differ in two results directories, real times aside; none: "equal".
inline std::string differing(const std::string& first, const std::string& second) {
  const auto one = results_below(first), other = results_below(second);
  std::string names;
  for (const auto& [name, text] : one)
    if (!other.contains(name) || other.at(name) != text) names += name + " ";
  for (const auto& [name, text] : other)
    if (!one.contains(name)) names += name + " ";
  return names.empty() ? "equal" : names;
}

}  // namespace simgrad::tests

// The repository's own files, for tests that read them.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program.h"

namespace simgrad::tests {

inline const std::filesystem::path& source_dir() {
  static const std::filesystem::path path = SIMGRAD_SOURCE_DIR;
  return path;
}

/// Returns the files of the repository, as paths relative to it: files of these names and below these folders. Files
/// that a build, a run or an editor leaves beside them are left out.
inline std::vector<std::filesystem::path> repository_files() {
  constexpr std::array folders{"src",  "tests",  "scenarios", "platforms", "analysis",
                               "docs", "script", ".ci",       ".github"};
  constexpr std::array files{"CMakeLists.txt",  "README.md",    "README.zh.md", "DESIGN.md",
                             "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md",
                             ".clang-format",   ".clang-tidy",  ".gitignore",   "LICENSE"};
  std::vector<std::filesystem::path> all(files.begin(), files.end());
  for (const char* folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_dir() / folder))
      if (entry.is_regular_file()) all.push_back(entry.path().lexically_relative(source_dir()));
  std::sort(all.begin(), all.end());
  return all;
}

inline std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "scenarios"))
    if (entry.path().extension() == ".toml") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

inline std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    all.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return all;
}

inline std::string text_of(const std::filesystem::path& relative) {
  return contents((source_dir() / relative).string());
}

/// The words of a line, separated by blanks and commas.
inline std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> all;
  while (true) {
    const std::size_t first = line.find_first_not_of(" \t,()");
    if (first == std::string_view::npos) return all;
    line.remove_prefix(first);
    const std::size_t end = std::min(line.find_first_of(" \t,()"), line.size());
    all.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace simgrad::tests

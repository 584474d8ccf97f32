/// The documents, their code blocks, and a directory in which their commands run.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "house/repository.h"

namespace simgrad::tests {

/// The blocks between "```<language>" and "```".
inline std::vector<std::string> fenced(const std::string& text, const std::string& language) {
  std::vector<std::string> blocks;
  bool inside = false;
  for (const std::string& line : lines(text)) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    } else if (line == "```" + language) {
      inside = true;
      blocks.emplace_back();
    }
  }
  return blocks;
}

/// The README and the pages of docs, in English: paths relative to the repository.
inline std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> all{"README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "docs")) {
    const std::filesystem::path name = entry.path().filename();
    if (name.extension() == ".md" && name.stem().extension() != ".zh") all.push_back("docs" / name);
  }
  std::sort(all.begin() + 1, all.end());
  return all;
}

/// "docs/limits.zh.md" of "docs/limits.md".
inline std::filesystem::path in_chinese(std::filesystem::path page) { return page.replace_extension(".zh.md"); }

/// The scenarios that a page lets its readers write, by the names of their files. A block belongs to the file that the
/// page has named last, as in "Save this as `mine.toml`:", and "Append to `mine.toml`:" continues it.
inline std::map<std::string, std::string> scenarios_in(const std::string& text) {
  static const std::regex file("`([a-z_]+\\.toml)`");
  std::map<std::string, std::string> scenarios;
  std::string named;
  bool inside = false;
  for (const std::string& line : lines(text)) {
    std::smatch found;
    if (inside && line == "```")
      inside = false;
    else if (inside)
      scenarios[named] += line + "\n";
    else if (line == "```toml")
      inside = true;
    else if (std::regex_search(line, found, file))
      named = found[1];
  }
  return scenarios;
}

/// A directory in which the documents' commands run: it has what a clone with a build has, and takes the results.
inline void furnish(const std::string& directory) {
  namespace fs = std::filesystem;
  for (const char* folder : {"scenarios", "platforms", "analysis"})
    fs::create_directory_symlink(source_dir() / folder, fs::path(directory) / folder);
  fs::create_directory(fs::path(directory) / "build");
  fs::create_symlink(SIMGRAD_PROGRAM, fs::path(directory) / "build" / "simgrad");
}

}  // namespace simgrad::tests

/// Code blocks of the documents, and a directory in which their commands run.
#pragma once

#include <filesystem>
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

/// A directory in which the documents' commands run: it has what a clone with a build has, and takes the results.
inline void furnish(const std::string& directory) {
  namespace fs = std::filesystem;
  for (const char* folder : {"scenarios", "platforms", "analysis"})
    fs::create_directory_symlink(source_dir() / folder, fs::path(directory) / folder);
  fs::create_directory(fs::path(directory) / "build");
  fs::create_symlink(SIMGRAD_PROGRAM, fs::path(directory) / "build" / "simgrad");
}

}  // namespace simgrad::tests

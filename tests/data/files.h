/// Helpers of the data tests: files to read, and the error of a call.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/errors.h"

namespace simgrad::data::test {

/// A directory of its own for a test, removed with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "simgrad_data_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// The text of the ScenarioError that the call throws, "" if it throws none.
template <class Call>
std::string fault(Call call) {
  try {
    (void)call();
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "";
}

/// A file of the directory that SIMGRAD_TEST_DATA names; none if it is unset, and the test says that it skips.
inline std::optional<std::string> real_file(const std::string& name) {
  const char* folder = std::getenv("SIMGRAD_TEST_DATA");
  if (!folder) return std::nullopt;
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace simgrad::data::test

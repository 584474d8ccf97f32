/// The files of a run in a results directory, found by the id that their names end in.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace simgrad::tests {

/// The file in the folder whose name ends in "-", the id and the ending; a name that no file has if there is none.
inline std::string file_of_run(const std::string& folder, const std::string& id, const std::string& ending) {
  std::error_code unknown;
  for (std::filesystem::directory_iterator at(folder, unknown), end; !unknown && at != end; at.increment(unknown))
    if (at->path().filename().string().ends_with("-" + id + ending)) return at->path().string();
  return folder + "/none-of-" + id + ending;
}

}  // namespace simgrad::tests

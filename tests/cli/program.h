// Starting the built program, as a user would.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "scratch.h"

namespace simgrad::tests {

/// The output and the exit code of a call.
struct Called {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs a shell command line in which "simgrad" is the built program, in the given directory.
inline Called call(const std::string& command, const std::string& directory) {
  const Scratch streams;
  const std::string line = "cd '" + directory +
                           "' && export LC_ALL=C; unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY; export PATH='" +
                           std::filesystem::path(SIMGRAD_PROGRAM).parent_path().string() + "':$PATH; ( " + command +
                           " ) >'" + streams.path() + "/out' 2>'" + streams.path() + "/err' </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(streams.path() + "/out"),
          contents(streams.path() + "/err")};
}

}  // namespace simgrad::tests

// Helpers of the benchmarks: medians, and the time and memory of a whole program.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace simgrad::bench {

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Used {
  double real_s = 0.0;
  double processor_s = 0.0;  ///< of the program and its children
  double peak_kib = 0.0;     ///< peak of the program, or of its largest child if that is larger
};

/// Runs a program, its output thrown away, and gives up if it fails.
inline Used call(const std::vector<std::string>& words) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "%s failed\n", words[0].c_str());
    std::exit(1);
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {.real_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          .processor_s = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .peak_kib = static_cast<double>(usage.ru_maxrss)};
}

/// A directory for what the programs write.
inline std::string scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "simgrad-bench-XXXXXX").string();
  if (!mkdtemp(name.data())) std::exit(1);
  return name;
}

}  // namespace simgrad::bench

// Calling the built program, as a user would.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "plan_cli/plan_cli.h"
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

/// The words of a command line as a POSIX shell splits it; nothing if the shell would do more than that.
inline std::optional<std::vector<std::string>> plain_words(const std::string& line) {
  std::vector<std::string> words;
  bool inside = false;  // a word
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == ' ') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (const char quote = line[at]; quote == '\'' || quote == '"') {
      const std::size_t end = line.find(quote, at + 1);
      if (end == std::string::npos) return {};
      const std::string quoted = line.substr(at + 1, end - at - 1);
      if (quote == '"' && quoted.find_first_of("$`\\") != std::string::npos) return {};
      words.back() += quoted;
      at = end;
    } else if (std::string("|&;<>()$`\\*?[]{}~#!\n\t").find(line[at]) != std::string::npos) {
      return {};
    } else {
      words.back() += line[at];
    }
  }
  return words;
}

/// The program's main function in a child of this process, with its streams in files of the directory `streams`.
[[noreturn]] inline void be_program(std::vector<std::string> words, const std::string& directory,
                                    const std::string& streams) {
  constexpr unsigned limit_s = 60;
  for (const int signal_number : {SIGINT, SIGILL, SIGFPE, SIGSEGV, SIGTERM, SIGABRT}) signal(signal_number, SIG_DFL);
  const auto redirect = [](const std::string& file, int flags, int stream) {
    const int opened = open(file.c_str(), flags, 0600);
    if (opened < 0 || dup2(opened, stream) < 0) _exit(127);
    close(opened);
  };
  redirect("/dev/null", O_RDONLY, STDIN_FILENO);
  redirect(streams + "/out", O_WRONLY | O_CREAT, STDOUT_FILENO);
  redirect(streams + "/err", O_WRONLY | O_CREAT, STDERR_FILENO);
  setenv("LC_ALL", "C", 1);
  unsetenv("GITHUB_ACTIONS");
  unsetenv("GITHUB_STEP_SUMMARY");
  if (chdir(directory.c_str()) != 0) _exit(127);
  words.insert(words.begin(), "simgrad");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  alarm(limit_s);
  const int exit_code = cli::run(static_cast<int>(words.size()), arguments.data(), plan_cli::commands);
  std::fflush(nullptr);
  _exit(exit_code);
}

/// Calls the program with arguments as a shell writes them; one that hangs is ended, with exit code 124. A line of
/// plain words is not worth a shell and a start of the program: its main function is called in a child of the test.
inline Called call_program(const std::string& arguments, const std::string& directory) {
  const auto words = plain_words(arguments);
  if (!words) return call("timeout 60 simgrad " + arguments, directory);
  const Scratch streams;
  std::cout.flush();
  std::fflush(nullptr);  // else the child would print the buffers again
  const pid_t child = fork();
  if (child == 0) be_program(*words, directory, streams.path());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return {127, "", "no child process"};
  const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  return {hung                ? 124
          : WIFEXITED(status) ? WEXITSTATUS(status)
                              : 128 + WTERMSIG(status),
          contents(streams.path() + "/out"), contents(streams.path() + "/err")};
}

}  // namespace simgrad::tests

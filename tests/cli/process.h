// The built program as a process that is watched and sent signals.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

#include "cli/program.h"

namespace simgrad::tests {

/// True as soon as `holds` does; false if it does not within the time.
inline bool soon(const std::function<bool()>& holds, std::chrono::milliseconds within = std::chrono::seconds(20)) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// The fields of a process in /proc from its state on; none if there is no such process.
inline std::vector<std::string> state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto at = text.rfind(") ");  // a name may have blanks
  if (at == std::string::npos) return {};
  std::istringstream rest(text.substr(at + 2));
  return {std::istream_iterator<std::string>(rest), {}};
}

/// True if the process exists and is no zombie.
inline bool lives(pid_t process) {
  const auto state = state_of(process);
  return !state.empty() && state[0] != "Z" && state[0] != "X";
}

/// The processor time that the process has used so far.
inline double cpu_s(pid_t process) {
  const auto state = state_of(process);
  if (state.size() < 13) return 0.0;
  return (std::stod(state[11]) + std::stod(state[12])) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Started in a process group of its own, as a shell with job control does; killed at the end if it still runs.
class Process {
 public:
  Process(std::vector<std::string> arguments, const Scratch& scratch) {
    arguments.insert(arguments.begin(), SIMGRAD_PROGRAM);
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    const std::string err = scratch.write("err", "");
    process_ = fork();
    if (process_ != 0) return;
    setpgid(0, 0);
    const int to = open(err.c_str(), O_WRONLY);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    if (chdir(scratch.path().c_str()) == 0) execv(words[0], words.data());
    _exit(127);
  }
  ~Process() {
    if (!ended_) send(SIGKILL), wait();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return process_; }
  void send(int signal) const { kill(process_, signal); }
  /// Sends to all processes of the group, as a terminal does.
  void send_group(int signal) const { kill(-process_, signal); }

  std::vector<pid_t> children() const {
    const std::string id = std::to_string(process_);
    std::ifstream file("/proc/" + id + "/task/" + id + "/children");
    std::vector<pid_t> all;
    for (pid_t child = 0; file >> child;) all.push_back(child);
    return all;
  }

  /// The exit code, or 128 + the signal it died of.
  int wait() {
    int status = 0;
    ended_ = true;
    if (waitpid(process_, &status, 0) != process_) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = 0;
  bool ended_ = false;
};

}  // namespace simgrad::tests
